// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/arithmetic/rounding.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_floor {

OP(floor) = rounding_op<ExprOp::floor>({
    .name = "Floor",
    .since_version = 13,
    .reference = unary_reference<[](double x) { return std::floor(x); }>,
});

}  // namespace tenon::ops::op_floor
