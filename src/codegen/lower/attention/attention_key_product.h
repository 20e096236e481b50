// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/lower/attention/attention_code.h"

namespace tenon::codegen {

/// scores[`count` keys of a block][queries] from `key` on, masked and capped as the nest defines. Returns the highest of each query.
std::vector<Reg> multiply_keys(AttentionCode& code, const Queries& q, Reg key, Reg count);

}  // namespace tenon::codegen
