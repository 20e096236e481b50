// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/expr/expr.h"
#include "ops/core/loop.h"

namespace tenon::codegen {

/// The operator that combines two values; asserts that there is one.
ExprOp operator_of(ops::Combine combine);
/// The value that changes nothing when combined.
ExprNode identity_of(ops::Combine combine, DType dtype);

}  // namespace tenon::codegen
