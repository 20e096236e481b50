// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/lower/attention/attention_code.h"

namespace tenon::codegen {

/// Adds the weights times the values of `count` keys, from `key` on, to AttentionCode::sums[queries][values].
void multiply_values(AttentionCode& code, const QueryTile& q, Reg key, Reg count);

}  // namespace tenon::codegen
