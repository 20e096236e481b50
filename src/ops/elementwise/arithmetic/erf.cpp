// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_erf {

OP(erf) {
    .name = "Erf",
    .since_version = 13,
    .inputs = {{"input"}},
    .infer = infer_float_unary,
    .loop_form = unary_form<[](Expr x) { return unary(ExprOp::erf, x); }>,
    .reference = unary_reference<[](double x) { return std::erf(x); }>,
    .first_opset = 9,
    .samples = {{"f32[2,3]", "f16[4]", "f64[0]", "f64[]", "bf16[5]"}},
};

}  // namespace tenon::ops::op_erf
