// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "rewrite/match.h"

namespace tenon::rules {

/// [batch, sequence, heads * size], of which `value` is [batch, heads, sequence, size] by a Reshape and a Transpose; none where it is not.
ir::ValueId side_by_side(const rewrite::GraphQuery& query, ir::ValueId value);

/// What a Reshape makes of heads that are side by side: nothing else, another shape that its target says of them too, or neither.
enum class Joins : uint8_t { same, reshaped, unknown };
/// joined: [batch, sequence, heads * size].
Joins joins_heads(const rewrite::GraphQuery& query, ir::NodeId reshape, const DimList& joined);

}  // namespace tenon::rules
