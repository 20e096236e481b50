// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/lower/attention/attention_code.h"

namespace tenon::codegen {

/// Stores `count` keys (operand 1) or values (2) of the head, from number `key` on, as f32 in AttentionCode::wide.
void widen(AttentionCode& code, const QueryTile& q, int operand, Reg key, Reg count);

}  // namespace tenon::codegen
