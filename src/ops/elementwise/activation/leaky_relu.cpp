// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_leaky_relu {

OP(leaky_relu) {
    .name = "LeakyRelu",
    .since_version = 16,
    .inputs = {{"input"}},
    .attributes = {{"alpha: float = 0.01"}},
    .infer = infer_float_unary,
    .loop_form =
        [](const NodeView& view) {
          const double alpha = view.attributes->number("alpha", 0.01f);
          return map_form(view, [=](std::span<const Expr> in) {
            const Expr x = in[0];
            return select(x < Expr(0), Expr(alpha) * x, x);
          });
        },
    .reference =
        [](Call& call) {
          const double alpha = call.view.attributes->number("alpha", 0.01f);
          return map_elements(call, [=](double x) { return x < 0 ? alpha * x : x; });
        },
    .samples = {{"f32[2,3]", "f16[4]", "f64[0]", "f64[]", "f32[5]; alpha=0.3"}},
};

}  // namespace tenon::ops::op_leaky_relu
