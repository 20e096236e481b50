// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_atanh {

OP(atanh) {
    .name = "Atanh",
    .since_version = 22,
    .inputs = {{"input"}},
    .infer = infer_float_unary,
    .loop_form = unary_form<[](Expr x) { return unary(ExprOp::atanh, x); }>,
    .reference = unary_reference<[](double x) { return std::atanh(x); }>,
    .first_opset = 9,
    .samples = {{"f32[2,3] in -0.99..0.99", "f16[4] in -0.9..0.9", "f64[0]", "f64[] in -1..1"}},
};

}  // namespace tenon::ops::op_atanh
