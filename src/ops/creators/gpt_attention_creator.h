// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/creators/op_creator.h"

namespace tenon::ops {

/// The creator GPTAttention, version 1, of namespace tensorrt_llm: nodes of tenon::GPTAttention.
OpCreator gpt_attention_creator();

}  // namespace tenon::ops
