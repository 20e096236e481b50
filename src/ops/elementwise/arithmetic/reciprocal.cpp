// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_reciprocal {

OP(reciprocal) {
    .name = "Reciprocal",
    .since_version = 13,
    .inputs = {{"input"}},
    .infer = infer_float_unary,
    .loop_form = unary_form<[](Expr x) { return unary(ExprOp::reciprocal, x); }>,
    .reference = unary_reference<[](double x) { return 1 / x; }>,
    .samples = {{"f32[2,3] in 0.01..5", "f16[4] in 0.1..3", "f64[0]", "f64[] in 0.5..9", "f32[3] = [0, -2, inf]"}},
};

}  // namespace tenon::ops::op_reciprocal
