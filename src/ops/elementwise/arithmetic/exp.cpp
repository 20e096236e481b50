// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_exp {

OP(exp) {
    .name = "Exp",
    .since_version = 13,
    .inputs = {{"input"}},
    .infer = infer_float_unary,
    .loop_form = unary_form<[](Expr x) { return unary(ExprOp::exp, x); }>,
    .reference = unary_reference<[](double x) { return std::exp(x); }>,
    .samples = {{"f32[2,3]", "f16[4]", "f64[0]", "f64[]", "f32[3] = [-inf, 0, 100]"}},
};

}  // namespace tenon::ops::op_exp
