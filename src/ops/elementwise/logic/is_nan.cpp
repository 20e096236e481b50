// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_is_nan {

OP(is_nan) {
    .name = "IsNaN",
    .since_version = 20,
    .inputs = {{"input"}},
    .infer = infer_float_predicate,
    .loop_form = unary_form<[](Expr x) { return unary(ExprOp::is_nan, x); }>,
    .reference = unary_reference<[](double x) { return std::isnan(x) ? 1.0 : 0.0; }>,
    .first_opset = 9,
    .samples = {{"f32[3] = [nan, 1, inf]", "f16[2]", "f64[0]"}},
};

}  // namespace tenon::ops::op_is_nan
