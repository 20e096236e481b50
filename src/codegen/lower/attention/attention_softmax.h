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
/// Replaces the block's scores by exp(score - maximum), and scales the sums of earlier blocks to the new maximum.
/// has_earlier: whether there are any. highest: the largest score of each query in the block.
void normalise(AttentionCode& code, const QueryTile& q, Reg has_earlier, Reg count, const std::vector<Reg>& highest);
/// Merges the weights of a part into those of a vector of queries, at `place`: the new maximum is the higher of `old` and that of the part,
/// and both totals are scaled to it and added. Stores the factors by which the caller scales the sums, of the queries in
/// AttentionCode::factors and of the part in AttentionCode::part_factors.
void merge_weights(AttentionCode& code, Reg place, Reg old, Reg maximum_of_part, const std::function<Reg()>& total_of_part);
/// Replaces the scores of a range of keys by exp(score - the range's maximum), and merges its totals.
void add_weights_of_range(AttentionCode& code, const QueryTile& q, Reg count, const std::vector<Reg>& highest);
/// Whether the maximum of some query is the score of a hidden key.
Reg has_no_visible_key(AttentionCode& code, const QueryTile& q);

}  // namespace tenon::codegen
