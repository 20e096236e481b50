// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// Squeeze and Unsqueeze: before opset 13 their axes (operand 1) were an attribute.
Result<void> axes_downgrade(ir::Graph& graph, ir::NodeId node, int opset);
/// Arithmetic, comparisons and logic before opset 7: the operands had one shape, or the attribute `broadcast` said that the second one's
/// sizes are those of the first one's axes from `axis` on (without `axis`: the last ones).
/// Errors: not_supported where a rank is needed and not known, shape_mismatch.
Result<void> broadcast_upgrade(ir::Graph& graph, ir::NodeId node, int opset);
/// LSTM, GRU and RNN before opset 7: `output_sequence` said whether result 0 is needed, which its absence says too.
Result<void> recurrent_upgrade(ir::Graph& graph, ir::NodeId node, int opset);
/// LSTM, GRU and RNN: ONNX Runtime (1.31) requires `hidden_size`, an OpDef::spell_out.
Result<void> state_hidden_size(ir::Graph& graph, ir::NodeId node, int opset);
/// LpPool and GlobalLpPool before opset 2: `p` was a float. Errors: not_supported where it is no whole number.
Result<void> whole_p_upgrade(ir::Graph& graph, ir::NodeId node, int opset);
/// Axes are an attribute before `operand_since`.
Result<void> axes_to_operand(ir::Graph& graph, ir::NodeId node, int opset);
Result<void> axes_to_attribute(ir::Graph& graph, ir::NodeId node, int opset);
/// Softmax and its kin before opset 13 normalise over everything from `axis` (default 1) on: flattened by a pair of reshapes
/// unless the axis is the last one.
Result<void> upgrade_flattened_axis(ir::Graph& graph, ir::NodeId node, int opset);
/// The last axis by its number, as before opset 13 -1 meant the default of 1 to some readers.
Result<void> axis_downgrade(ir::Graph& graph, ir::NodeId node, int opset);

}  // namespace tenon::ops
