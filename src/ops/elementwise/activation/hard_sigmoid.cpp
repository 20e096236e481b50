// SPDX-License-Identifier: Apache-2.0
#include "base/scalar.h"
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_hard_sigmoid {

OP(hard_sigmoid) {
    .name = "HardSigmoid",
    .since_version = 22,
    .inputs = {{"input"}},
    .attributes = {{"alpha: float = 0.2", "beta: float = 0.5"}},
    .infer = infer_float_unary,
    .loop_form =
        [](const NodeView& view) {
          const double alpha = view.attributes->number("alpha", 0.2f);
          const double beta = view.attributes->number("beta", 0.5f);
          return map_form(view, [=](std::span<const Expr> in) {
            const Expr x = in[0];
            return max(Expr(0), min(Expr(1), Expr(alpha) * x + Expr(beta)));
          });
        },
    .reference =
        [](Call& call) {
          const double alpha = call.view.attributes->number("alpha", 0.2f);
          const double beta = call.view.attributes->number("beta", 0.5f);
          return map_elements(call, [=](double x) { return maximum(0, minimum(1, alpha * x + beta)); });
        },
    .samples = {{"f32[2,3] in -5..5", "f16[4]", "f64[0]"}},
};

}  // namespace tenon::ops::op_hard_sigmoid
