// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/expr/expr.h"

namespace tenon::inline base {

/// One operator on evaluated operands, with the meaning that ExprOp states. `from`: the dtype of the operands (of the last one
/// for select); `to`: of the result. No leaves.
Scalar apply(ExprOp op, DType from, DType to, Scalar a, Scalar b, Scalar c, bool round);

}  // namespace tenon::inline base
