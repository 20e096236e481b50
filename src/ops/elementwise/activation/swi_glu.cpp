// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_swi_glu {

namespace {

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  TRY(require_same_dtype(view, 0, 1));
  if (ranks_known(view, {0, 1})) {
    if (view.rank(0) != view.rank(1))
      return refuse(view, Code::rank_mismatch, "A and B differ in rank").expected(view.type(0).text()).found(view.type(1).text());
    for (int k = 0; k < view.rank(0); ++k) TRY(require_equal(view, view.type(0).dim(k), view.type(1).dim(k), "sizes of A and B"));
  }
  set_output(view, 0, view.type(0));
  return {};
}

Result<LoopForm> loop_form(const NodeView& view) {
  const double alpha = view.attributes->number("alpha", 1);
  return map_form(view, [alpha](std::span<const Expr> x) {
    const Expr one = Expr::constant(x[0].dtype(), 1);
    return x[0] / (one + exp(-(x[0] * Expr::constant(x[0].dtype(), alpha)))) * x[1];
  });
}

Result<void> evaluate(Call& call) {
  const double alpha = call.view.attributes->number("alpha", 1);
  return map_elements(call, FloatBinary([alpha](double a, double b) { return a / (1 + std::exp(-alpha * a)) * b; }));
}

}  // namespace

OP(swi_glu) {
    .name = "SwiGLU",
    .since_version = 28,
    .inputs = {{"A", "B"}},
    .outputs = {{"Y"}},
    .attributes = {{"alpha: float = 1.0"}},
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .first_opset = 28,
    .samples = {{"f32[2,3,4], f32[2,3,4]", "f16[7], f16[7]; alpha=1.702", "f64[2,2], f64[2,2]"}},
};

}  // namespace tenon::ops::op_swi_glu
