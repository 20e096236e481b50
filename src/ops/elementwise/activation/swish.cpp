// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/precision.h"
#include "ops/elementwise/activation/with_alpha.h"

namespace tenon::ops::op_swish {

OP(swish) = alpha_op({
    .name = "Swish",
    .since_version = 24,
    .loop_form = form_with_alpha<[](Expr x, double alpha) { return x / (Expr(1) + exp(Expr(-alpha) * x)); }>,
    .reference = reference_with_alpha<[](double x, double alpha) { return x / (1 + std::exp(-alpha * x)); }>,
    .definition =
        [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
          return define_float_map(build, view, in, [&](ir::ValueId x, DType dtype) {
            const double alpha = view.attributes->number("alpha", 1.0f);
            const ir::ValueId scaled = alpha == 1 ? x : build("Mul", {x, build.scalar(dtype, alpha)});
            return build("Mul", {x, build("Sigmoid", {scaled})});
          });
        },
    .first_opset = 24,
});

}  // namespace tenon::ops::op_swish
