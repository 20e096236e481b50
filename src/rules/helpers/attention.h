// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"

namespace tenon::rules {

/// A value of which each head is a head of `source`, repeated `repeats` times in a row (grouped-query attention).
struct RepeatedHeads {
  ir::ValueId source;  ///< [batch, heads, sequence, size]
  Dim repeats;
};
/// Matches Reshape(Expand(Unsqueeze(x, 2))), with a Squeeze in place of the Reshape for one head. nullopt for other values.
std::optional<RepeatedHeads> repeated_heads(const rewrite::Match& m, ir::ValueId value);

/// The Concats that append the keys and values of an attention, its operands 1 and 2, to those of earlier steps.
struct CacheConcats {
  ir::NodeId keys, values;
};
/// Those of the root; both are Concat(past, x) along the sequence of [batch, heads, sequence, size]. nullopt where one is something else.
std::optional<CacheConcats> cache_concats_of(const rewrite::Match& m);
/// Replaces the root and the Concats by the attention `op`, which takes the past keys and values as operands 4 and 5, and whose results 1
/// and 2 are the concatenated ones.
bool replace_with_cached_attention(const rewrite::Match& m, rewrite::Rewriter& w, const CacheConcats& past, std::string_view op);

/// An operand of an Attention of [batch, heads, sequence, size] that has as many rows as there are queries: the keys where that is known,
/// so that the queries have no further user; else the queries.
ir::ValueId operand_with_query_length(const rewrite::Match& m, ir::NodeId attention);

/// i64: the positions 0, 1, 2, ... along `axis` of x.
ir::ValueId positions_along(rewrite::Rewriter& w, ir::ValueId x, int64_t axis);

/// A mask of Attention that hides the keys for which `visible` (bool) is false, in addition to those that `mask` hides. mask: none, a bool
/// mask or one that is added to the scores. Both must broadcast to the scores, last axes of equal length.
ir::ValueId combined_mask(rewrite::Rewriter& w, ir::ValueId mask, ir::ValueId visible);

}  // namespace tenon::rules
