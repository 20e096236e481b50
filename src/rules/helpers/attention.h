// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"

namespace tenon::rules {

/// Heads, each repeated several times in a row.
struct RepeatedHeads {
  ir::ValueId source;  ///< [batch, heads, sequence, size]
  Dim times;
};
/// Reshape(Expand(Unsqueeze(x, 2))), or Squeeze of one head. nullopt where `value` is something else.
std::optional<RepeatedHeads> repeated_heads(const rewrite::Match& m, ir::ValueId value);

/// The nodes that join the keys and values of an attention, its operands 1 and 2, with those of earlier steps.
struct CacheConcats {
  ir::NodeId keys, values;
};
/// Both are Concat(past, x) along the sequence of [batch, heads, sequence, size].
std::optional<CacheConcats> past_below(const rewrite::Match& m);
/// The attention `op` takes both itself, as operands 4 and 5, and gives the joined ones out, as results 1 and 2.
bool hand_over(const rewrite::Match& m, rewrite::Rewriter& w, const CacheConcats& past, std::string_view op);

/// The operand that gives the number of queries of an Attention, heads before the sequence: its keys where they are as many, so that
/// nothing but Attention reads the queries.
ir::ValueId as_long_as_queries(const rewrite::Match& m, ir::NodeId attention);

/// Places 0, 1, 2, ... along `axis` of x.
ir::ValueId places_along(rewrite::Rewriter& w, ir::ValueId x, int64_t axis);

/// A mask of Attention that hides what `visible` (bool) does not show, in addition to what `mask` hides, which may be none, choose or be
/// added. Both must broadcast to the scores, last axes of equal length.
ir::ValueId mask_of_both(rewrite::Rewriter& w, ir::ValueId mask, ir::ValueId visible);

}  // namespace tenon::rules
