// SPDX-License-Identifier: Apache-2.0
#include "ops/training/optimiser.h"

namespace tenon::ops::op_adam {

namespace {

constexpr size_t kGroups = 4;  ///< values, gradients, running means of the gradients and of their squares

/// The learning rate, corrected after the first update for moments that are initialised with 0.
ir::ValueId corrected_rate(const Optimiser& o, size_t k, double alpha, double beta) {
  const auto rest = [&](double base) { return o.op("Sub", o.number(k, 1), o.op("Pow", o.number(k, base), o.count(k))); };
  const ir::ValueId corrected = o.op("Div", o.op("Mul", o.rate(k), o.build("Sqrt", {rest(beta)})), rest(alpha));
  return o.build("Where", {o.op("Greater", o.count(k), o.number(k, 0)), corrected, o.rate(k)});
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  const Optimiser o{build, view, in, optimised_tensors(view, kGroups)};
  const double alpha = o.attribute("alpha", 0.9), beta = o.attribute("beta", 0.999), post = o.attribute("norm_coefficient_post", 0);
  std::vector<ir::ValueId> out(3 * o.tensors);
  for (size_t k = 0; k < o.tensors; ++k) {
    const ir::ValueId gradient = o.gradient(k);
    const auto mean = [&](ir::ValueId old, double keep, ir::ValueId now) {
      return o.op("Add", o.times(k, old, keep), o.times(k, now, 1 - keep));
    };
    const ir::ValueId first = mean(o.tensor(2, k), alpha, gradient);
    const ir::ValueId second = mean(o.tensor(3, k), beta, o.op("Mul", gradient, gradient));
    const ir::ValueId root = o.op("Add", build("Sqrt", {second}), o.number(k, o.attribute("epsilon", 1e-6)));
    const ir::ValueId step = o.op("Div", o.op("Mul", corrected_rate(o, k, alpha, beta), first), root);
    const ir::ValueId value = o.op("Sub", o.tensor(0, k), step);
    out[k] = post == 0 ? value : o.times(k, value, 1 - post);
    out[o.tensors + k] = first;
    out[2 * o.tensors + k] = second;
  }
  return out;
}

}  // namespace

OP(adam) {
    .name = "Adam",
    .domain = "ai.onnx.preview.training",
    .inputs = {{"R", "T", "inputs*"}},
    .outputs = {{"outputs*"}},
    .attributes = {{"alpha: float = 0.9", "beta: float = 0.999", "epsilon: float = 1e-06", "norm_coefficient: float = 0.0",
                    "norm_coefficient_post: float = 0.0"}},
    .infer = [](NodeView& view) { return infer_optimiser(view, kGroups); },
    .result_count = [](const NodeView& view) { return results_of_optimiser(view, kGroups); },
    .definition = define,
    .first_opset = 1,
    .samples = {{"f32[] = 0.1, i64[] = 3, f32[2,3], f32[2,3], f32[2,3], f32[2,3] in 0.1..4; norm_coefficient=0.01, outputs=3",
                 "f64[] = 0.1, i64[] = 0, f64[2], f64[3], f64[2], f64[3], f64[2], f64[3], f64[2] in 0.1..4, f64[3] in 0.1..4; "
                 "norm_coefficient_post=0.1, alpha=0.8, outputs=6"}},
};

}  // namespace tenon::ops::op_adam
