// SPDX-License-Identifier: Apache-2.0
#include "nn/tensor_weights.h"

namespace tenon::nn {

std::vector<std::string> TensorWeights::names() const {
  std::vector<std::string> out;
  for (const auto& [name, tensor] : tensors_) out.push_back(name);
  return out;
}

std::optional<Sizes> TensorWeights::shape_of(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? std::nullopt : std::optional<Sizes>(found->second->shape);
}

ir::ConstantRef TensorWeights::constant(std::string_view name) const { return ir::cast(tensors_.find(name)->second, DType::f32); }

std::vector<int64_t> TensorWeights::input_order(std::string_view name) const {
  const auto found = input_orders_.find(name);
  return found == input_orders_.end() ? std::vector<int64_t>() : found->second;
}

}  // namespace tenon::nn
