// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <map>

#include "base/random.h"
#include "nn/decoder/config.h"
#include "nn/weights.h"

namespace tenon::nn::testing {

/// Weights in memory.
class MapWeights : public Weights {
 public:
  std::vector<std::string> names() const override {
    std::vector<std::string> out;
    for (const auto& [name, tensor] : tensors_) out.push_back(name);
    return out;
  }
  std::optional<Sizes> shape_of(std::string_view name) const override {
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? std::nullopt : std::optional<Sizes>(found->second.shape());
  }
  ir::ConstantRef constant(std::string_view name) const override { return ir::constant_of(tensors_.find(name)->second); }

  void erase(const std::string& name) { tensors_.erase(name); }
  /// Drawn around `middle`, with a deviation of about 1 / sqrt(last size).
  void add(const std::string& name, Sizes shape, float middle = 0) {
    size_t count = 1;
    for (int64_t size : shape) count *= static_cast<size_t>(size);
    const float scale = 1.7F / std::sqrt(static_cast<float>(shape.back()));
    std::vector<float> values(count);
    for (float& v : values) v = middle + scale * static_cast<float>(2 * uniform_of(philox(17, {drawn_++, 0, 0, 0})) - 1);
    tensors_.insert_or_assign(name, Tensor::of_f32(std::move(shape), values));
  }

 private:
  uint32_t drawn_ = 0;
  std::map<std::string, Tensor, std::less<>> tensors_;
};

}  // namespace tenon::nn::testing
