// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/lower/attention/attention_code.h"

namespace tenon::codegen {

/// sums[queries][values] += weights times values of `count` keys from `key` on.
void multiply_values(AttentionCode& code, const Queries& q, Reg key, Reg count);

}  // namespace tenon::codegen
