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

std::vector<double> frequencies_of(int64_t rotated, double base, const std::vector<double>& divisors) {
  std::vector<double> out;
  for (int64_t i = 0; i < rotated / 2; ++i) {
    out.push_back(std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(rotated)));
    if (!divisors.empty()) out.back() /= divisors[static_cast<size_t>(i)];
  }
  return out;
}

namespace {

/// divisors: of the frequencies; empty: 1.
DecoderParts::Angles angles_of(DecoderParts& parts, double base, double factor, const std::vector<double>& divisors, double magnitude) {
  const std::vector<double> frequencies = frequencies_of(parts.config.rotated_size, base, divisors);
  const auto pairs = static_cast<int64_t>(frequencies.size());
  const auto table = [&](double (*function)(double)) {
    std::vector<float> values;
    values.reserve(static_cast<size_t>(parts.capacity * pairs));
    for (int64_t position = 0; position < parts.capacity; ++position)
      for (const double frequency : frequencies)
        values.push_back(static_cast<float>(function(static_cast<double>(position) / factor * frequency) * magnitude));
    return parts.build.constant(Tensor::of_f32({parts.capacity, pairs}, values));
  };
  return {table([](double angle) { return std::cos(angle); }), table([](double angle) { return std::sin(angle); })};
}

/// f32[heads, new, past + new]: the slope of each head times the distance of the key, minus infinity for keys that are not read.
ir::ValueId biased(DecoderParts& parts, ir::ValueId mask, ir::ValueId key, ir::ValueId query) {
  ir::Builder& build = parts.build;
  const ir::ValueId distance =
      build("Cast", {build("Sub", {key, query})}, {{"to", static_cast<int64_t>(DType::f32)}});  // [new, past + new], at most 0
  const std::vector<float> slopes = bias_slopes(parts.config.heads);
  const ir::ValueId bias = build("Mul", {distance, build.constant(Tensor::of_f32({parts.config.heads, 1, 1}, slopes))});
  return build("Where", {mask, bias, build.scalar(DType::f32, -std::numeric_limits<double>::infinity())});
}

}  // namespace

Result<void> check_rotation(const DecoderParts& parts) {
  const DecoderConfig& c = parts.config;
  if (c.rotation == Rotation::none) return {};
  constexpr int64_t kMostBytes = int64_t{512} << 20;                                        // 2^20 positions of heads of 128 elements
  const int64_t bytes = 4 * c.rotated_size, positions = parts.stream ? 1 : parts.capacity;  // a cosine and a sine a pair
  if (positions <= kMostBytes / bytes) return {};
  return fail(Code::limit_exceeded, "hyperparameter 'context_length'", "the tables of rotations are too large")
      .expected(fmt::format("at most {} tokens of {} rotated elements, in {} MB", kMostBytes / bytes, c.rotated_size, kMostBytes >> 20))
      .found(fmt::format("{} tokens", positions))
      .advice("--context TOKENS is the length for which the cache has room");
}

void add_rotation(DecoderParts& parts) {
  const DecoderConfig& c = parts.config;
  if (c.rotation == Rotation::none) return;
  parts.angles = angles_of(parts, c.rotation_base, c.rotation_factor, c.rotation_divisors, c.rotation_magnitude);
  parts.window_angles = c.window_rotation_base > 0 ? angles_of(parts, c.window_rotation_base, 1, {}, 1) : parts.angles;
}

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

ir::ValueId mask_of(DecoderParts& parts, int64_t window, ir::ValueId keys) {
  ir::ValueId& mask = parts.masks[window];
  if (mask) return mask;
  ir::Builder& build = parts.build;
  const ir::ValueId key = ops::iota(build, keys);                                                             // [past + new]
  const ir::ValueId query = build("Unsqueeze", {ops::squeezed(build, parts.positions, 0), build.ints({1})});  // [new, 1]
  mask = build("LessOrEqual", {key, query});
  if (window > 0)
    mask = build("And", {mask, build("Greater", {key, build("Sub", {query, build.scalar(DType::i64, static_cast<double>(window))})})});
  if (parts.config.linear_bias) mask = biased(parts, mask, key, query);
  return mask;
}

}  // namespace tenon::nn
