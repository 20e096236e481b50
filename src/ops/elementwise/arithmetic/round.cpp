// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/arithmetic/rounding.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_round {

OP(round) = rounding_op<ExprOp::round_even>({
    .name = "Round",
    .since_version = 22,
    .infer = infer_float_unary,
    .reference = unary_reference<[](double x) { return std::nearbyint(x); }>,
    .first_opset = 11,
});

}  // namespace tenon::ops::op_round
