// SPDX-License-Identifier: Apache-2.0
// Decoders whose sequences have no end, against plain loops that rotate every key anew for each query.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "nn/decoder/decoder.h"
#include "ops/reference/stateful_run.h"
#include "plain_decoder.h"
#include "small_decoder.h"

namespace tenon::nn {
namespace {

using testing::kVocabulary;
using testing::RandomWeights;
using testing::small_config;
using testing::weights_of;

double largest_difference(std::span<const double> a, const std::vector<double>& b) {
  double out = a.size() == b.size() ? 0 : INFINITY;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) out = std::fmax(out, std::abs(a[i] - b[i]));
  return out;
}

/// 21 tokens in runs of at most 3, `sizes` again and again, by the graph and by loops that rotate each key anew.
std::string difference_of_stream(const DecoderConfig& c, const Weights& weights, int64_t window, int64_t sinks,
                                 const std::vector<size_t>& sizes) {
  std::vector<int64_t> tokens;
  for (int64_t i = 0; i < 21; ++i) tokens.push_back((i * i + 3 * i) % kVocabulary);
  const auto graph = make_decoder(c, weights, {.most_tokens = 3, .window = window, .sinks = sinks});
  if (!graph) return graph.error().text();
  ops::EvaluateOptions options;
  options.mode = ops::Mode::wide;
  ops::StatefulRun run(options);
  double worst = 0;
  for (size_t at = 0, k = 0; at < tokens.size(); ++k) {
    const size_t size = std::min(sizes[k % sizes.size()], tokens.size() - at);
    const auto got = run.step(**graph, std::vector{Tensor::of_i64({1, static_cast<int64_t>(size)}, std::span(tokens).subspan(at, size))});
    if (!got) return got.error().text();
    at += size;
    const auto logits = got->at(0).as<double>();
    const std::vector<int64_t> read(tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(at));
    worst = std::fmax(worst, largest_difference(logits, testing::plain_logits(c, weights, read, CacheType::f32, {window, sinks})));
  }
  return worst <= 1e-10 ? "" : fmt::format("logits differ by {}", worst);
}

TEST(Streams, HaveTheLogitsOfKeysThatAreRotatedAnew) {
  DecoderConfig c = small_config();
  c.head_size = c.rotated_size = 4;  // its square root is no rounded number
  EXPECT_EQ(difference_of_stream(c, weights_of(c), 6, 2, {1}), "");
  EXPECT_EQ(difference_of_stream(c, weights_of(c), 6, 2, {3, 1, 2}), "");
  EXPECT_EQ(difference_of_stream(c, weights_of(c), 6, 0, {3, 1}), "") << "without sinks";
  EXPECT_EQ(difference_of_stream(c, weights_of(c), 1, 5, {2, 3}), "") << "more sinks than a run has tokens";
}

TEST(Streams, KeepTheWindowsOfLayers) {  // as Gemma 3, with YaRN
  DecoderConfig c = small_config();
  c.head_size = 4;
  c.rotated_size = 2;
  c.rotation = Rotation::half_split;
  c.rotation_divisors = {1.5};
  c.rotation_magnitude = 1.25;
  c.rotation_factor = 8;
  c.window_rotation_base = 50;
  for (const int64_t window : {3, 9}) {  // kept; cut to 6, with sinks
    c.windows = {window, 0};
    EXPECT_EQ(difference_of_stream(c, weights_of(c), 6, 2, {3, 1, 2}), "") << window;
  }
}

TEST(Streams, WhatIsNotSupportedIsOneErrorEach) {
  const auto error_of = [](const DecoderConfig& c, const Weights& weights, const DecoderOptions& options) {
    const auto graph = make_decoder(c, weights, options);
    return graph ? std::string() : graph.error()->what;
  };
  DecoderConfig c = small_config();
  EXPECT_EQ(error_of(c, weights_of(c), {.has_cache = false, .window = 4}), "a window needs a cache");
  EXPECT_EQ(error_of(c, weights_of(c), {.sinks = 4}), "a stream has no such part");
  EXPECT_EQ(error_of(c, weights_of(c), {.window = 13, .sinks = 4}), "the model was trained for a shorter context");
  EXPECT_EQ(error_of(c, weights_of(c), {.window = 12, .sinks = 4}), "");
  c.rotation = Rotation::none;
  RandomWeights w = weights_of(c);
  w.add("position_embd.weight", {c.context, c.width});
  EXPECT_EQ(error_of(c, w, {.window = 4}), "not supported yet: streams of a model with learned positions");
  c.linear_bias = true;
  EXPECT_EQ(error_of(c, weights_of(c), {.window = 4}), "not supported yet: streams of a model with linear bias");
}

}  // namespace
}  // namespace tenon::nn
