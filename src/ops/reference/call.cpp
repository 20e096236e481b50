// SPDX-License-Identifier: Apache-2.0
#include "ops/core/op.h"
#include "ops/reference/evaluate.h"

namespace tenon::ops {

DType Call::out_dtype(size_t index) const {
  const DType declared = view.outputs[index].dtype;
  return wide && is_float(declared) ? DType::f64 : declared;
}

Result<Tensor*> Call::make(size_t index, Sizes shape) {
  TENON_ASSERT(index < view.outputs.size() && index < out.size());
  auto made = Tensor::make(out_dtype(index), std::move(shape), byte_limit);
  if (!made) return std::unexpected(std::move(made).error().at(view.where()));
  out[index] = std::move(*made);
  return &out[index];
}

Result<std::vector<Tensor>> Call::run_body(size_t index, std::vector<Tensor> inputs, std::optional<int64_t> iteration) const {
  TENON_ASSERT(index < view.bodies.size());
  EvaluateOptions options;
  options.mode = wide ? Mode::wide : Mode::declared;
  options.byte_limit = byte_limit;
  options.random = iteration ? random.in_iteration(static_cast<uint64_t>(*iteration)) : random;
  return evaluate(*view.bodies[index], inputs, options);
}

}  // namespace tenon::ops
