// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// Brings a node that has the form of `opset` into the spelling that all readers take alike, where the schema allows more than one:
/// - axes from 0 on below opset 11, which counted none from the end (where the rank is known);
/// - STFT with its attribute onesided, whose default shape inference of the package onnx (1.23) takes for 0;
/// - Pad with axes of i64, the only type that shape inference of the package onnx reads them in;
/// - Einsum with ellipses that stand for equally many axes, as the specification wants it;
/// - GRU, LSTM and RNN with their attribute hidden_size, which ONNX Runtime (1.31) requires;
/// - Split with the sizes of its parts where equal parts leave nothing for the last, and Reshape with sizes in place of -1 where the input
///   has no elements: neither has a size that the package onnx can infer.
/// Does nothing for others. Errors: not_supported.
Result<void> write_explicitly(ir::Graph& graph, ir::NodeId node, int64_t opset);

}  // namespace tenon::ops
