// SPDX-License-Identifier: Apache-2.0
#include "nn/decoder/parts.h"

#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "ops/definition/plain_ops.h"

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

int64_t window_of(const DecoderConfig& config, int64_t layer) {
  return config.windows.empty() ? 0 : config.windows[static_cast<size_t>(layer)];
}

namespace {

/// ALiBi as an additive mask, f32[heads, new, past + new]: the slope of the head times the (negative) distance of the key, minus infinity
/// where `mask` is false.
ir::ValueId bias_mask(DecoderParts& parts, ir::ValueId mask, ir::ValueId key, ir::ValueId query) {
  ir::Builder& build = parts.build;
  const ir::ValueId distance =
      build("Cast", {build("Sub", {key, query})}, {{"to", static_cast<int64_t>(DType::f32)}});  // [new, past + new], at most 0
  const std::vector<float> slopes = bias_slopes(parts.config.heads);
  const ir::ValueId bias = build("Mul", {distance, build.constant(Tensor::of_f32({parts.config.heads, 1, 1}, slopes))});
  return build("Where", {mask, bias, build.scalar(DType::f32, -std::numeric_limits<double>::infinity())});
}

}  // namespace

std::vector<float> bias_slopes(int64_t heads) {
  const auto power = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(heads)));
  std::vector<float> out;
  for (int64_t h = 0; h < heads; ++h) {
    const double exponent = h < power ? static_cast<double>(h + 1) / static_cast<double>(power)
                                      : static_cast<double>(2 * (h - power) + 1) / static_cast<double>(2 * power);
    out.push_back(static_cast<float>(std::exp2(-8 * exponent)));
  }
  return out;
}

ir::ValueId attention_mask(DecoderParts& parts, int64_t window, ir::ValueId keys) {
  ir::ValueId& mask = parts.masks[window];
  if (mask) return mask;
  ir::Builder& build = parts.build;
  const ir::ValueId key = ops::iota(build, keys);                                                             // [past + new]
  const ir::ValueId query = build("Unsqueeze", {ops::squeezed(build, parts.positions, 0), build.ints({1})});  // [new, 1]
  mask = build("LessOrEqual", {key, query});
  if (window > 0)
    mask = build("And", {mask, build("Greater", {key, build("Sub", {query, build.scalar(DType::i64, static_cast<double>(window))})})});
  if (parts.config.linear_bias) mask = bias_mask(parts, mask, key, query);
  return mask;
}

}  // namespace tenon::nn
