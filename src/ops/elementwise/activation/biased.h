// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// Infers BiasGelu and FastGelu: result 0 has the type of operand 0; operand 1, where given, is a bias with one element a column. Errors:
/// rank_mismatch, shape_mismatch.
Result<void> infer_biased(NodeView& view);

}  // namespace tenon::ops
