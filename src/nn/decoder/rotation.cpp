// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "nn/decoder/parts.h"
#include "ops/definition/plain_ops.h"

namespace tenon::nn {

std::vector<double> frequencies_of(int64_t rotated, double base, const std::vector<double>& divisors) {
  std::vector<double> out;
  for (int64_t i = 0; i < rotated / 2; ++i) {
    out.push_back(std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(rotated)));
    if (!divisors.empty()) out.back() /= divisors[static_cast<size_t>(i)];
  }
  return out;
}

namespace {

/// f32[1, new, pairs]: cosines and sines of positions, i64[1, new].
DecoderParts::Angles angles_at(ir::Builder& build, ir::ValueId positions, double factor, const std::vector<double>& frequencies,
                               double magnitude) {
  const auto pairs = static_cast<int64_t>(frequencies.size());
  Tensor table = *Tensor::make(DType::f64, {pairs});
  std::ranges::copy(frequencies, table.as_mutable<double>().begin());
  const auto scaled = [&](const char* op, ir::ValueId x, double by) { return by == 1 ? x : build(op, {x, build.scalar(DType::f64, by)}); };
  const ir::ValueId place = build("Unsqueeze", {ops::cast_to(build, positions, DType::f64), build.ints({2})});
  const ir::ValueId angle = build("Mul", {scaled("Div", place, factor), build.constant(std::move(table))});
  const auto of = [&](const char* function) { return ops::cast_to(build, scaled("Mul", build(function, {angle}), magnitude), DType::f32); };
  return {of("Cos"), of("Sin")};
}

}  // namespace

void add_rotation(DecoderParts& parts) {
  const DecoderConfig& c = parts.config;
  if (c.rotation == Rotation::none) return;
  ir::Builder& build = parts.build;
  const auto frequencies = frequencies_of(c.rotated_size, c.rotation_base, c.rotation_divisors);
  const auto window_frequencies =
      c.window_rotation_base > 0 ? frequencies_of(c.rotated_size, c.window_rotation_base, {}) : std::vector<double>();
  if (c.dynamic_context > 0) {  // layers without that base: dynamic_rotation.cpp
    if (!window_frequencies.empty()) parts.window_angles = angles_at(build, parts.positions, 1, window_frequencies, 1);
    return;
  }
  const auto add = [&](ir::ValueId positions, DecoderParts::Angles& all, DecoderParts::Angles& windows) {
    all = angles_at(build, positions, c.rotation_factor, frequencies, c.rotation_magnitude);
    windows = window_frequencies.empty() ? all : angles_at(build, positions, 1, window_frequencies, 1);
  };
  add(parts.positions, parts.angles, parts.window_angles);
  if (!parts.stream) return;
  const ir::ValueId sink_positions = build("Min", {parts.positions, build.scalar(DType::i64, static_cast<double>(parts.stream.window))});
  add(sink_positions, parts.sink_angles, parts.window_sink_angles);
}

}  // namespace tenon::nn
