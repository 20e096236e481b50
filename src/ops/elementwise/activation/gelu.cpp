// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/precision.h"
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_gelu {

OP(gelu) {
    .name = "Gelu",
    .since_version = 20,
    .inputs = {{"input"}},
    .attributes = {{"approximate: string = none"}},
    .infer = infer_float_unary,
    .loop_form =
        [](const NodeView& view) {
          const bool fast = view.attributes->text("approximate", "none") == "tanh";
          return map_form(view, [=](std::span<const Expr> in) {
            const Expr x = in[0];
            return fast ? Expr(0.5) * x * (Expr(1) + tanh(Expr(0.7978845608028654) * (x + Expr(0.044715) * x * x * x)))
                        : Expr(0.5) * x * (Expr(1) + erf(x * Expr(0.7071067811865476)));
          });
        },
    .reference =
        [](Call& call) {
          const bool fast = call.view.attributes->text("approximate", "none") == "tanh";
          return map_elements(call, [=](double x) {
            return fast ? 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)))
                        : 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
          });
        },
    .definition =
        [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
          return define_float_map(build, view, in, [&](ir::ValueId x, DType dtype) {
            const auto number = [&](double value) { return build.scalar(dtype, value); };
            if (view.attributes->text("approximate", "none") != "tanh") {
              const ir::ValueId gate = build("Add", {build("Erf", {build("Mul", {x, number(0.7071067811865476)})}), number(1)});
              return build("Mul", {build("Mul", {x, number(0.5)}), gate});
            }
            const ir::ValueId cube = build("Mul", {build("Mul", {x, x}), build("Mul", {x, number(0.044715)})});
            const ir::ValueId inner = build("Mul", {build("Add", {x, cube}), number(0.7978845608028654)});
            return build("Mul", {build("Mul", {x, number(0.5)}), build("Add", {build("Tanh", {inner}), number(1)})});
          });
        },
    .first_opset = 20,
    .samples = {{"f32[2,3]", "f16[4]", "f64[0]", "f32[5]; approximate=tanh"}},
};

}  // namespace tenon::ops::op_gelu
