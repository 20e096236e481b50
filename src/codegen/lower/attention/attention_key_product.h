// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/lower/attention/attention_code.h"

namespace tenon::codegen {

/// Computes AttentionCode::scores of `count` keys from `key` on, [key][query], masked and capped as the nest defines. Returns the maximum
/// of each query.
std::vector<Reg> multiply_keys(AttentionCode& code, const QueryTile& q, Reg key, Reg count);

}  // namespace tenon::codegen
