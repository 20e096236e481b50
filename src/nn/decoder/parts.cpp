// SPDX-License-Identifier: Apache-2.0
#include "nn/decoder/parts.h"

#include <cmath>

#include "ops/definition/pieces.h"

namespace tenon::nn {

ir::ValueId normalized(DecoderParts& parts, const std::string& name, ir::ValueId x, int64_t size) {
  const ir::ConstantRef weight = parts.weights.read(name + ".weight", {size});
  const bool is_layer = parts.config.normalization == Normalization::layer, is_biased = is_layer && parts.weights.has(name + ".bias");
  const ir::ConstantRef bias = is_biased ? parts.weights.read(name + ".bias", {size}) : nullptr;
  if (!x || !weight || (is_biased && !bias)) return {};
  std::vector<ir::ValueId> operands{x, parts.build.constant(weight)};
  if (bias) operands.push_back(parts.build.constant(bias));
  return parts.build(is_layer ? "LayerNormalization" : "RMSNormalization", std::move(operands),
                     {{"axis", int64_t{-1}}, {"epsilon", static_cast<float>(parts.config.epsilon)}});
}

ir::ValueId scaled(ir::Builder& build, ir::ValueId x, double factor) {
  return factor == 1 ? x : build("Mul", {x, build.scalar(DType::f32, factor)});
}

ir::ValueId soft_capped(ir::Builder& build, ir::ValueId x, double cap) {
  return cap == 0 ? x : scaled(build, build("Tanh", {build("Div", {x, build.scalar(DType::f32, cap)})}), cap);
}

void add_rotation(DecoderParts& parts) {
  const DecoderConfig& c = parts.config;
  if (c.rotation == Rotation::none) return;
  const int64_t pairs = c.rotated_size / 2;
  std::vector<float> cosines, sines;
  cosines.reserve(static_cast<size_t>(parts.capacity * pairs));
  sines.reserve(static_cast<size_t>(parts.capacity * pairs));
  for (int64_t position = 0; position < parts.capacity; ++position)
    for (int64_t i = 0; i < pairs; ++i) {
      const double frequency = std::pow(c.rotation_base, -2.0 * static_cast<double>(i) / static_cast<double>(c.rotated_size));
      const double angle = static_cast<double>(position) / c.rotation_factor * frequency;
      cosines.push_back(static_cast<float>(std::cos(angle)));
      sines.push_back(static_cast<float>(std::sin(angle)));
    }
  parts.cosines = parts.build.constant(Tensor::of_f32({parts.capacity, pairs}, cosines));
  parts.sines = parts.build.constant(Tensor::of_f32({parts.capacity, pairs}, sines));
}

ir::ValueId mask_of(DecoderParts& parts, int64_t window, ir::ValueId keys) {
  ir::ValueId& mask = parts.masks[window];
  if (mask) return mask;
  ir::Builder& build = parts.build;
  const ir::ValueId key = ops::counting(build, keys);                                                             // [past + new]
  const ir::ValueId query = build("Unsqueeze", {ops::without_axis(build, parts.positions, 0), build.ints({1})});  // [new, 1]
  mask = build("LessOrEqual", {key, query});
  if (window > 0)
    mask = build("And", {mask, build("Greater", {key, build("Sub", {query, build.scalar(DType::i64, static_cast<double>(window))})})});
  return mask;
}

}  // namespace tenon::nn
