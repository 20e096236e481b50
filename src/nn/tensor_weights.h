// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>

#include "nn/weights.h"

namespace tenon::nn {

/// Weights from tensors in a mapped file or in memory, or from expressions over such; of any float type.
class TensorWeights : public Weights {
 public:
  /// Replaces a weight of that name.
  void set(std::string name, Tensor tensor) { set(std::move(name), ir::constant_of(std::move(tensor))); }
  void set(std::string name, ir::ConstantRef weight) { tensors_.insert_or_assign(std::move(name), std::move(weight)); }
  /// See Weights::input_order.
  void set_input_order(std::string name, std::vector<int64_t> order) { input_orders_.insert_or_assign(std::move(name), std::move(order)); }
  void erase(const std::string& name) { tensors_.erase(name); }

  std::vector<std::string> names() const override;
  std::optional<Sizes> shape_of(std::string_view name) const override;
  ir::ConstantRef constant(std::string_view name) const override;
  std::vector<int64_t> input_order(std::string_view name) const override;

 private:
  std::map<std::string, ir::ConstantRef, std::less<>> tensors_;
  std::map<std::string, std::vector<int64_t>, std::less<>> input_orders_;
};

}  // namespace tenon::nn
