// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/lower/attention/attention_code.h"

namespace tenon::codegen {

/// The maximum of a and b, either where one is NaN: the weight is NaN in both cases.
Reg higher(AttentionCode& code, Reg a, Reg b);
/// The number to subtract from scores: the maximum, or 0 where that is -inf (no visible key), so that weights and total are 0.
Reg base_of(AttentionCode& code, Reg maximum);

/// Clears sums and totals, and sets maxima to -inf, before the first block.
void begin_softmax(AttentionCode& code, const QueryTile& q);
/// Replaces the block's scores by exp(score - maximum), and scales the sums of earlier blocks (where `joins`) to the new maximum.
void normalise(AttentionCode& code, const QueryTile& q, Reg joins, Reg count, const std::vector<Reg>& highest);
/// Whether the maximum of some query is the score of a hidden key.
Reg has_no_visible_key(AttentionCode& code, const QueryTile& q);

}  // namespace tenon::codegen
