// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_asin {

OP(asin) {
    .name = "Asin",
    .since = 22,
    .inputs = {{"input"}},
    .infer = infer_float_unary,
    .form = unary_of<[](Expr x) { return unary(ExprOp::asin, x); }>,
    .reference = unary_reference<[](double x) { return std::asin(x); }>,
    .first = 7,
    .samples = {{"f32[2,3] in -0.99..0.99", "f16[4] in -0.9..0.9", "f64[0]", "f64[] in -1..1"}},
};

}  // namespace tenon::ops::op_asin
