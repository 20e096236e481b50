// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/arithmetic/rounding.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_ceil {

OP(ceil) = rounding_op<ExprOp::ceil>({
    .name = "Ceil",
    .since_version = 13,
    .reference = unary_reference<[](double x) { return std::ceil(x); }>,
});

}  // namespace tenon::ops::op_ceil
