// SPDX-License-Identifier: Apache-2.0
#include "base/scalar.h"
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_softplus {

OP(softplus) {
    .name = "Softplus",
    .since_version = 22,
    .inputs = {{"input"}},
    .infer = infer_float_unary,
    .loop_form = unary_form<[](Expr x) { return max(x, Expr(0)) + log1p(exp(-abs(x))); }>,
    .reference = unary_reference<[](double x) { return maximum(x, 0) + std::log1p(std::exp(-std::fabs(x))); }>,
    .samples = {{"f32[2,3]", "f16[4]", "f64[0]", "f64[]", "f32[3] = [-inf, 1000, -1000]"}},
};

}  // namespace tenon::ops::op_softplus
