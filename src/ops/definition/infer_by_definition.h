// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// Infers a fused op: its results have the types of its definition, which is built in a temporary graph with operands of the same types.
/// Where the definition does not cover the case (a rank is missing), results have the dtype of operand 0 and no shape.
/// Errors: what an op of the definition refuses. Cost: that of building the definition.
Result<void> infer_by_definition(NodeView& view);

}  // namespace tenon::ops
