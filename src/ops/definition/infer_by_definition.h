// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// Types of the results of a fused op: those of its definition, built aside over operands of the same types. Where the definition does
/// not cover the case (a rank is missing), results have the dtype of operand 0 and no shape.
/// Errors: what an op of the definition refuses. Cost: that of building the definition.
Result<void> infer_by_definition(NodeView& view);

}  // namespace tenon::ops
