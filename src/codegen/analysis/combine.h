// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/expr/expr.h"
#include "ops/core/loop.h"

namespace tenon::codegen {

/// The operator that combines two values. `combine` must not be none.
ExprOp operator_of(ops::Combine combine);
/// The identity element of the operator: 0 for sum, 1 for product, ...
ExprNode identity_of(ops::Combine combine, DType dtype);

}  // namespace tenon::codegen
