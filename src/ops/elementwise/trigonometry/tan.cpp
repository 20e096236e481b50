// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_tan {

OP(tan) {
    .name = "Tan",
    .since_version = 22,
    .inputs = {{"input"}},
    .infer = infer_float_unary,
    .loop_form = unary_form<[](Expr x) { return unary(ExprOp::tan, x); }>,
    .reference = unary_reference<[](double x) { return std::tan(x); }>,
    .first_opset = 7,
    .samples = {{"f32[2,3]", "f16[4]", "f64[0]", "f64[]", "bf16[5]"}},
};

}  // namespace tenon::ops::op_tan
