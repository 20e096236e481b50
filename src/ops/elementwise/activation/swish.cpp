// SPDX-License-Identifier: Apache-2.0
#include "ops/form/form.h"
#include "ops/reference/map.h"
#include "ops/versions/versions.h"

namespace tenon::ops::op_swish {

OP(swish) {
    .name = "Swish",
    .since = 24,
    .inputs = {"input"},
    .attributes = {"alpha: float = 1.0"},
    .infer = infer_float_unary,
    .form =
        [](const NodeView& view) {
          const double alpha = view.attributes->number("alpha", 1.0f);
          return map_form(view, [=](std::span<const Expr> in) {
            const Expr x = in[0];
            return x / (Expr(1) + exp(Expr(-alpha) * x));
          });
        },
    .reference =
        [](Call& call) {
          const double alpha = call.view.attributes->number("alpha", 1.0f);
          return each(call, [=](double x) { return x / (1 + std::exp(-alpha * x)); });
        },
    .definition =
        [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
          return define_float_map(build, view, in, [&](ir::ValueId x, DType dtype) {
            const double alpha = view.attributes->number("alpha", 1.0f);
            const ir::ValueId scaled = alpha == 1 ? x : build("Mul", {x, build.scalar(dtype, alpha)});
            return build("Mul", {x, build("Sigmoid", {scaled})});
          });
        },
    .first = 24,
    .samples = {"f32[2,3]", "f16[4]", "f64[0]", "f64[]", "f32[5]; alpha=2.5"},
};

}  // namespace tenon::ops::op_swish
