// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// First opset in which negative axes count from the end.
inline constexpr int kNegativeAxes = 11;

/// So that no reader of the file has to fill in a default or a rule that another reader takes differently: runs OpDef::make_explicit on a
/// node of an ONNX op that is valid in `opset`, and below opset 11 makes negative axes non-negative (where the rank of operand 0 is known).
/// Errors: not_supported.
Result<void> make_explicit(ir::Graph& graph, ir::NodeId node, int opset);

/// Makes negative values of the attributes `axis` and `axes` non-negative, as axes of a tensor of rank `rank`.
void count_axes_from_zero(ir::Graph& graph, ir::NodeId node, int rank);
/// OpDef::make_explicit of ops whose axes are axes of result 0.
Result<void> count_result_axes_from_zero(ir::Graph& graph, ir::NodeId node, int opset);

}  // namespace tenon::ops
