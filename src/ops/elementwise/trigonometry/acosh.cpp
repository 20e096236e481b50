// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_acosh {

OP(acosh) {
    .name = "Acosh",
    .since_version = 22,
    .inputs = {{"input"}},
    .infer = infer_float_unary,
    .loop_form = unary_form<[](Expr x) { return unary(ExprOp::acosh, x); }>,
    .reference = unary_reference<[](double x) { return std::acosh(x); }>,
    .first_opset = 9,
    .samples = {{"f32[2,3] in 1..9", "f16[4] in 1..5", "f64[0]"}},
};

}  // namespace tenon::ops::op_acosh
