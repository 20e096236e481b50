// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_shrink {

OP(shrink) {
    .name = "Shrink",
    .since_version = 9,
    .inputs = {{"input"}},
    .attributes = {{"bias: float = 0.0", "lambd: float = 0.5"}},
    .infer = infer_float_unary,
    .loop_form =
        [](const NodeView& view) {
          const double bias = view.attributes->number("bias", 0.0f);
          const double lambd = view.attributes->number("lambd", 0.5f);
          return map_form(view, [=](std::span<const Expr> in) {
            const Expr x = in[0];
            return select(x < Expr(-lambd), x + Expr(bias), select(Expr(lambd) < x, x - Expr(bias), Expr(0)));
          });
        },
    .reference =
        [](Call& call) {
          const double bias = call.view.attributes->number("bias", 0.0f);
          const double lambd = call.view.attributes->number("lambd", 0.5f);
          return map_elements(call, [=](double x) { return x < -lambd ? x + bias : x > lambd ? x - bias : 0; });
        },
    .first_opset = 9,
    .samples = {{"f32[2,3]", "f16[4]", "f64[0]", "f64[]", "f32[5]; bias=0.5, lambd=1", "f32[4] = [nan, -0.0, -0.25, inf]"}},
};

}  // namespace tenon::ops::op_shrink
