// SPDX-License-Identifier: Apache-2.0
#include "ops/core/refuse.h"
#include "ops/training/optimiser.h"

namespace tenon::ops::op_momentum {

namespace {

constexpr size_t kGroups = 3;  ///< values, gradients, momenta

/// The factor of the gradient: 1 at the first update.
ir::ValueId gradient_factor(const Optimiser& o, size_t k) {
  const double beta = o.attribute("beta", 1);
  return o.build("Where", {o.op("Greater", o.count(k), o.number(k, 0)), o.number(k, beta), o.number(k, 1)});
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  const Optimiser o{build, view, in, optimised_tensors(view, kGroups)};
  const bool nesterov = view.attributes->text("mode", "") == "nesterov";
  const double alpha = o.attribute("alpha", 0);
  std::vector<ir::ValueId> values, momenta;
  for (size_t k = 0; k < o.tensors; ++k) {
    const ir::ValueId gradient = o.gradient(k);
    const ir::ValueId now = o.op("Add", o.times(k, o.tensor(2, k), alpha), o.op("Mul", gradient_factor(o, k), gradient));
    const ir::ValueId way = nesterov ? o.op("Add", gradient, o.times(k, now, alpha)) : now;
    values.push_back(o.op("Sub", o.tensor(0, k), o.op("Mul", o.rate(k), way)));
    momenta.push_back(now);
  }
  values.insert(values.end(), momenta.begin(), momenta.end());
  return values;
}

Result<void> infer(NodeView& view) {
  const std::string mode = view.attributes->text("mode", "");
  if (mode != "standard" && mode != "nesterov")
    return refuse(view, Code::bad_attribute, "unknown mode").expected("standard or nesterov").found(mode);
  return infer_optimiser(view, kGroups);
}

}  // namespace

OP(momentum) {
    .name = "Momentum",
    .domain = "ai.onnx.preview.training",
    .inputs = {{"R", "T", "inputs*"}},
    .outputs = {{"outputs*"}},
    .attributes = {{"alpha: float!", "beta: float!", "mode: string!", "norm_coefficient: float!"}},
    .infer = infer,
    .result_count = [](const NodeView& view) { return results_of_optimiser(view, kGroups); },
    .definition = define,
    .first_opset = 1,
    .samples =
        {{"f32[] = 0.1, i64[] = 3, f32[2,3], f32[2,3], f32[2,3]; alpha=0.9, beta=0.5, mode=standard, norm_coefficient=0.01, outputs=2",
          "f64[] = 0.1, i64[] = 0, f64[2], f64[3], f64[2], f64[3], f64[2], f64[3]; alpha=0.9, beta=0.5, mode=nesterov, "
          "norm_coefficient=0.0, outputs=4"}},
};

}  // namespace tenon::ops::op_momentum
