// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// BiasGelu and FastGelu: operand 0, to which operand 1, where given, adds a number a column. Errors: rank_mismatch, shape_mismatch.
Result<void> infer_biased(NodeView& view);

}  // namespace tenon::ops
