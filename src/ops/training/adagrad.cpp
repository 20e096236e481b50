// SPDX-License-Identifier: Apache-2.0
#include "ops/training/optimiser.h"

namespace tenon::ops::op_adagrad {

namespace {

constexpr size_t kGroups = 3;  ///< values, gradients, sums of their squares

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  const Optimiser o{build, view, in, optimised_tensors(view, kGroups)};
  std::vector<ir::ValueId> values, sums;
  for (size_t k = 0; k < o.tensors; ++k) {
    const ir::ValueId decay = o.op("Add", o.times(k, o.count(k), o.attribute("decay_factor", 0)), o.number(k, 1));
    const ir::ValueId gradient = o.gradient(k);
    sums.push_back(o.op("Add", o.tensor(2, k), o.op("Mul", gradient, gradient)));
    const ir::ValueId root = o.op("Add", build("Sqrt", {sums.back()}), o.number(k, o.attribute("epsilon", 1e-6)));
    const ir::ValueId step = o.op("Mul", o.op("Div", o.rate(k), decay), o.op("Div", gradient, root));
    values.push_back(o.op("Sub", o.tensor(0, k), step));
  }
  values.insert(values.end(), sums.begin(), sums.end());
  return values;
}

}  // namespace

OP(adagrad) {
    .name = "Adagrad",
    .domain = "ai.onnx.preview.training",
    .inputs = {{"R", "T", "inputs*"}},
    .outputs = {{"outputs*"}},
    .attributes = {{"decay_factor: float = 0.0", "epsilon: float = 1e-06", "norm_coefficient: float = 0.0"}},
    .infer = [](NodeView& view) { return infer_optimiser(view, kGroups); },
    .result_count = [](const NodeView& view) { return results_of_optimiser(view, kGroups); },
    .definition = define,
    .first_opset = 1,
    .samples = {{"f32[] = 0.1, i64[] = 3, f32[2,3], f32[2,3], f32[2,3] in 0.1..4; decay_factor=0.1, norm_coefficient=0.01, outputs=2",
                 "f64[] = 0.1, i64[] = 0, f64[2], f64[3], f64[2], f64[3], f64[2] in 0.1..4, f64[3] in 0.1..4; outputs=4"}},
};

}  // namespace tenon::ops::op_adagrad
