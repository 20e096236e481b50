// SPDX-License-Identifier: Apache-2.0
#include "ops/form/form.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_thresholded_relu {

OP(thresholded_relu) {
    .name = "ThresholdedRelu",
    .since = 22,
    .inputs = {"input"},
    .attributes = {"alpha: float = 1.0"},
    .infer = infer_float_unary,
    .form =
        [](const NodeView& view) {
          const double alpha = view.attributes->number("alpha", 1.0f);
          return map_form(view, [=](std::span<const Expr> in) {
            const Expr x = in[0];
            return select(x <= Expr(alpha), Expr(0) * x, x);
          });
        },
    .reference =
        [](Call& call) {
          const double alpha = call.view.attributes->number("alpha", 1.0f);
          return each(call, [=](double x) { return x > alpha ? x : 0; });
        },
    .first = 10,
    .samples = {"f32[2,3]", "f16[4]", "f64[0]", "f32[5]; alpha=0.5"},
};

}  // namespace tenon::ops::op_thresholded_relu
