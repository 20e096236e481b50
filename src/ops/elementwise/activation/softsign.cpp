// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_softsign {

OP(softsign) {
    .name = "Softsign",
    .since_version = 22,
    .inputs = {{"input"}},
    .infer = infer_float_unary,
    .loop_form = unary_form<[](Expr x) { return x / (Expr(1) + abs(x)); }>,
    .reference = unary_reference<[](double x) { return x / (1 + std::fabs(x)); }>,
    .samples = {{"f32[2,3]", "f16[4]", "f64[0]", "f64[]", "bf16[5]"}},
};

}  // namespace tenon::ops::op_softsign
