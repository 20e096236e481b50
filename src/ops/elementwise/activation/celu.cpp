// SPDX-License-Identifier: Apache-2.0
#include "base/scalar.h"
#include "ops/form/form.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_celu {

OP(celu) {
    .name = "Celu",
    .since = 28,
    .inputs = {"input"},
    .attributes = {"alpha: float = 1.0"},
    .infer = infer_float_unary,
    .form =
        [](const NodeView& view) {
          const double alpha = view.attributes->number("alpha", 1.0f);
          return map_form(view, [=](std::span<const Expr> in) {
            const Expr x = in[0];
            return max(x, Expr(0)) + min(Expr(0), Expr(alpha) * expm1(x / Expr(alpha)));
          });
        },
    .reference =
        [](Call& call) {
          const double alpha = call.view.attributes->number("alpha", 1.0f);
          return each(call, [=](double x) { return maximum(0, x) + minimum(0, alpha * std::expm1(x / alpha)); });
        },
    .first = 12,
    .samples = {"f32[2,3]", "f16[4]", "f64[0]", "f64[]", "f32[5]; alpha=2.5"},
};

}  // namespace tenon::ops::op_celu
