// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"
#include "ops/versions/attributes.h"

namespace tenon::ops::op_selu {

namespace {

Result<void> upgrade(ir::Graph& graph, ir::NodeId node, int opset) {
  if (opset >= 6) return {};
  default_attribute(graph, node, "alpha", 1.6732f);
  default_attribute(graph, node, "gamma", 1.0507f);
  return {};
}

}  // namespace

OP(selu) {
    .name = "Selu",
    .since_version = 22,
    .inputs = {{"input"}},
    .attributes = {{"alpha: float = 1.67326319217681884765625", "gamma: float = 1.05070102214813232421875"}},
    .infer = infer_float_unary,
    .loop_form =
        [](const NodeView& view) {
          const double alpha = view.attributes->number("alpha", 1.67326319217681884765625f);
          const double gamma = view.attributes->number("gamma", 1.05070102214813232421875f);
          return map_form(view, [=](std::span<const Expr> in) {
            const Expr x = in[0];
            return Expr(gamma) * select(x < Expr(0), Expr(alpha) * expm1(x), x);
          });
        },
    .reference =
        [](Call& call) {
          const double alpha = call.view.attributes->number("alpha", 1.67326319217681884765625f);
          const double gamma = call.view.attributes->number("gamma", 1.05070102214813232421875f);
          return map_elements(call, [=](double x) { return gamma * (x < 0 ? alpha * std::expm1(x) : x); });
        },
    .upgrade = upgrade,
    .samples = {{"f32[2,3]", "f16[4]", "f64[0]", "f64[]", "f32[5]; alpha=2.5"}},
};

}  // namespace tenon::ops::op_selu
