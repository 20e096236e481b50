// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// OpDef::downgrade of an op whose older versions lack f16 and bf16: operand 0 is cast to f32, and a float result back. Operands
/// of other types, float8 among them, stay.
Result<void> cast_through_f32(ir::Graph& graph, ir::NodeId node, int opset);

}  // namespace tenon::ops
