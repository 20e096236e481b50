// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// OpDef::downgrade of Squeeze and Unsqueeze: before opset 13 their axes (operand 1) were an attribute.
Result<void> axes_downgrade(ir::Graph& graph, ir::NodeId node, int opset);
/// OpDef::upgrade of arithmetic, comparisons and logic: before opset 7 the operands had one shape, or, with attribute `broadcast`, the
/// second one's sizes are those of the first one's axes from `axis` on (without `axis`: of its last axes). Errors: not_supported where a
/// rank is needed and not known, shape_mismatch.
Result<void> broadcast_upgrade(ir::Graph& graph, ir::NodeId node, int opset);
/// OpDef::upgrade of LSTM, GRU and RNN: drops `output_sequence`, which before opset 7 enabled result 0; a node that does not need it has
/// none.
Result<void> recurrent_upgrade(ir::Graph& graph, ir::NodeId node, int opset);
/// OpDef::make_explicit of LSTM, GRU and RNN: sets `hidden_size`, which ONNX Runtime (1.31) requires.
Result<void> set_hidden_size(ir::Graph& graph, ir::NodeId node, int opset);
/// OpDef::upgrade of LpPool and GlobalLpPool: before opset 2 `p` was a float. Errors: not_supported where it is no whole number.
Result<void> integer_p_upgrade(ir::Graph& graph, ir::NodeId node, int opset);
/// OpDef::upgrade and OpDef::downgrade of Reduce*: in older versions the axes were an attribute.
Result<void> axes_to_operand(ir::Graph& graph, ir::NodeId node, int opset);
Result<void> axes_to_attribute(ir::Graph& graph, ir::NodeId node, int opset);
/// OpDef::upgrade of Softmax, LogSoftmax and Hardmax: before opset 13 they normalise over all axes from `axis` (default 1) on. A pair of
/// reshapes flattens these unless the axis is the last one.
Result<void> upgrade_flattened_axis(ir::Graph& graph, ir::NodeId node, int opset);
/// OpDef::downgrade of the same: before opset 13 they reduce the last axis, by its number since some readers take -1 for the default of 1;
/// another axis is transposed to the end and back.
Result<void> downgrade_flattened_axis(ir::Graph& graph, ir::NodeId node, int opset);

}  // namespace tenon::ops
