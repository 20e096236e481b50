// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_sigmoid {

OP(sigmoid) {
    .name = "Sigmoid",
    .since_version = 13,
    .inputs = {{"input"}},
    .infer = infer_float_unary,
    .loop_form = unary_form<[](Expr x) { return Expr(1) / (Expr(1) + exp(-x)); }>,
    .reference = unary_reference<[](double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }>,
    .samples = {{"f32[2,3]", "f16[4]", "f64[0]", "f64[]", "f32[4] = [-1000, 1000, -inf, inf]"}},
};

}  // namespace tenon::ops::op_sigmoid
