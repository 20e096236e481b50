// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// For an op that once knew no short floats: they are cast to f32 (operand 0), and the result back where it is a float.
Result<void> through_f32(ir::Graph& graph, ir::NodeId node, int opset);

}  // namespace tenon::ops
