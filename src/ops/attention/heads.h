// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// The bias that a mask of 1 and 0 over the keys adds to the scores: 0, and `filter` where a key is masked. Operand `k` of the node, of
/// rank 2 [batch, keys] or 3 [batch, queries, keys].
ir::ValueId padding_scores(ir::Builder& build, ir::ValueId mask, const NodeView& view, size_t k, DType dtype, double filter);
/// The same for a mask of rank 1 that counts keys: [batch] ends; [2 * batch] ends, then starts; [3 * batch + 2] ends, then what packed rows
/// need. batch, keys: i64 of rank 0. Returns [batch, 1, 1, keys]; none where the size of the mask is not known to be one of these.
ir::ValueId length_scores(ir::Builder& build, ir::ValueId mask, const NodeView& view, size_t k, ir::ValueId batch, ir::ValueId keys,
                          DType dtype, double filter);
/// Whether the mask, operand `k` of rank 1, has one of these sizes.
bool counts_keys(const NodeView& view, size_t k);
/// Splits the last axis into heads: [batch, sequence, heads * size] to [batch, heads, sequence, size].
ir::ValueId split_heads(ir::Builder& build, ir::ValueId x, int64_t heads);
/// The inverse: [batch, heads, sequence, size] to [batch, sequence, heads * size].
ir::ValueId merge_heads(ir::Builder& build, ir::ValueId x);
/// Repeats each head of [batch, heads, sequence, size] `times` times, one copy after the other.
ir::ValueId repeat_heads(ir::Builder& build, ir::ValueId x, Dim heads, Dim size, int64_t times);

}  // namespace tenon::ops
