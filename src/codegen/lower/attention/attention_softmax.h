// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

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
/// Brings a vector of queries, at `place`, to the higher of its maximum `old` and that of a part: scales the totals, adds those of the
/// part, and leaves the factors of the sums that were made with either in AttentionCode::factors and part_factors.
void merge_weights(AttentionCode& code, Reg place, Reg old, Reg maximum_of_part, const std::function<Reg()>& total_of_part);
/// Replaces the scores of a range of keys by exp(score - the range's maximum), and merges its totals.
void add_weights_of_range(AttentionCode& code, const QueryTile& q, Reg count, const std::vector<Reg>& highest);
/// Whether the maximum of some query is the score of a hidden key.
Reg has_no_visible_key(AttentionCode& code, const QueryTile& q);

}  // namespace tenon::codegen
