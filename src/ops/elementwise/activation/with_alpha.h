// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops {

/// `.form = form_with_alpha<[](Expr x, double alpha) { return ...; }>`, of an activation with attribute `alpha` (default 1).
template <auto body>
Result<LoopForm> form_with_alpha(const NodeView& view) {
  const double alpha = view.attributes->number("alpha", 1.0f);
  return map_form(view, [=](std::span<const Expr> in) { return body(in[0], alpha); });
}
/// `.reference = reference_with_alpha<[](double x, double alpha) { return ...; }>`
template <auto number>
Result<void> reference_with_alpha(Call& call) {
  const double alpha = call.view.attributes->number("alpha", 1.0f);
  return map_elements(call, [=](double x) { return number(x, alpha); });
}

/// The fields that Celu, Elu, Swish and ThresholdedRelu share.
constexpr OpDef alpha_op(OpDef own) {
  own.inputs = {.array = literals<"input">};
  own.attributes = {.array = literals<"alpha: float = 1.0">};
  own.infer = infer_float_unary;
  if (own.samples.empty()) own.samples = {.array = literals<"f32[2,3]", "f16[4]", "f64[0]", "f64[]", "f32[5]; alpha=2.5">};
  return own;
}

}  // namespace tenon::ops
