// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "rewrite/match.h"

namespace tenon::rules {

/// The value [batch, sequence, heads * size] that a Reshape and a Transpose bring to `value`, [batch, heads, sequence, size]; none where
/// `value` is computed in another way.
ir::ValueId operand_of_head_split(const rewrite::GraphQuery& query, ir::ValueId value);

/// The result of a Reshape that is applied to heads after they were merged. same: the merged shape; reshaped: another shape, for which the
/// Reshape's target may be kept; unknown: neither.
enum class MergedShape : uint8_t { same, reshaped, unknown };
/// joined: the merged shape, [batch, sequence, heads * size].
MergedShape shape_of_merged_heads(const rewrite::GraphQuery& query, ir::NodeId reshape, const DimList& joined);

}  // namespace tenon::rules
