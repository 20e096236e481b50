// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/arithmetic/scaled.h"

#include "ops/infer/shape_data.h"

namespace tenon::ops {

namespace {

/// The axis of data of rank `rank` along which the factors lie (the last one for a single number); nullopt where they lie along several.
std::optional<size_t> axis_of(const ir::Constant& factors, size_t rank) {
  size_t axis = rank - 1;
  for (size_t i = 0; i < factors.shape.size(); ++i) {
    if (factors.shape[i] == 1) continue;
    if (factors.shape[i] != factors.count()) return std::nullopt;
    axis = i + rank - factors.shape.size();
  }
  return axis;
}

/// `count` times the only number of operand `input`.
ir::ConstantRef repeated(const NodeView& view, size_t input, int64_t count) {
  const auto number = known_number(view, input);
  auto out = Tensor::make(view.type(input).dtype, {count});
  if (!number || !out) return nullptr;
  for (int64_t i = 0; i < count; ++i) out->set_number(i, *number);
  return ir::constant_of(std::move(*out));
}

}  // namespace

Folded fold_scaled(const NodeView& view, std::span<const ir::ConstantRef> in, bool divide) {
  const size_t large = !divide && in[1]->count() > in[0]->count() ? 1 : 0, small = 1 - large;
  const ir::ConstantRef data = in[large];
  const Sizes& shape = data->shape;
  const auto result = view.outputs[0].has_rank() ? static_sizes(*view.outputs[0].shape) : std::nullopt;
  if (data->dtype != DType::f32 || result != std::optional(shape) || shape.empty()) return std::nullopt;
  const auto axis = axis_of(*in[small], shape.size());
  if (!axis) return std::nullopt;
  const bool one_each = in[small]->count() == shape[*axis];
  const ir::ConstantRef factors = one_each ? ir::reshape(in[small], {shape[*axis]}) : repeated(view, small, shape[*axis]);
  return factors ? Folded(std::vector{ir::scale(data, factors, static_cast<int>(*axis), divide)}) : std::nullopt;
}

}  // namespace tenon::ops
