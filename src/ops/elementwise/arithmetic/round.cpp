// SPDX-License-Identifier: Apache-2.0
#include "ops/form/form.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_round {

OP(round) {
    .name = "Round",
    .since = 22,
    .inputs = {"input"},
    .infer = infer_float_unary,
    .form = unary_of<[](Expr x) { return unary(ExprOp::round_even, x); }>,
    .reference = unary_reference<[](double x) { return std::nearbyint(x); }>,
    .first = 11,
    .samples = {"f32[2,3] in -5..5", "f16[4]", "f64[0]", "f32[7] = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, inf]"},
};

}  // namespace tenon::ops::op_round
