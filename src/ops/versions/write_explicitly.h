// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// First opset in which axes count from the end too.
inline constexpr int kNegativeAxes = 11;

/// Brings a node that has the form of `opset` into the spelling that all readers take alike: OpDef::spell_out, and below opset 11 axes from
/// 0 on (where the rank of operand 0 is known). Errors: not_supported.
Result<void> write_explicitly(ir::Graph& graph, ir::NodeId node, int opset);

/// Attributes `axis` and `axes`, which count in `rank` dimensions, from 0 on.
void count_axes_from_zero(ir::Graph& graph, ir::NodeId node, int rank);
/// OpDef::spell_out of ops whose axes are those of result 0.
Result<void> count_result_axes_from_zero(ir::Graph& graph, ir::NodeId node, int opset);

}  // namespace tenon::ops
