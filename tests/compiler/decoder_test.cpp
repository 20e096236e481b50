// SPDX-License-Identifier: Apache-2.0
// Decoders of src/nn as engines: each step against the reference, and one plan for all lengths.
#include <gtest/gtest.h>

#include <cstring>

#include "../nn/small_decoder.h"
#include "helpers.h"
#include "nn/decoder/decoder.h"
#include "ops/reference/stateful_run.h"

namespace tenon::compiler {
namespace {

/// Steps of a decoder, by the engine and by reference.
struct Steps {
  std::unique_ptr<ir::Graph> graph;
  std::unique_ptr<runtime::Context> context;
  ops::StatefulRun reference;

  /// Empty where the logits are those of the reference.
  std::string run(const std::vector<int64_t>& tokens) {
    const std::vector<Tensor> inputs{Tensor::of_i64({1, static_cast<int64_t>(tokens.size())}, tokens)};
    const auto want = reference.step(*graph, inputs);
    if (!want) return "reference: " + want.error().text();
    const auto got = context->run(inputs, tests::run_options());
    return got ? testing::difference((*want)[0], (*got)[0]) : got.error().text();
  }
};

Result<Steps> steps_of(const nn::DecoderConfig& config) {
  Steps out;
  out.graph = TRY(nn::make_decoder(config, nn::testing::weights_of(config)));
  CompileOptions options = tests::compile_options(3);
  options.verify = true;
  out.context = TRY(runtime::Context::create(TRY(tests::engine_from(TRY(compile(out.graph->clone(), options)), options))));
  return out;
}

TEST(Decoders, ChunksAndSingleTokensEqualTheReference) {
  auto steps = steps_of(nn::testing::small_config());
  ASSERT_TRUE(steps) << steps.error().text();
  EXPECT_EQ(steps->run({3, 17, 0, 22, 9}), "");
  for (int64_t token : {9, 1, 14}) EXPECT_EQ(steps->run({token}), "");
  EXPECT_EQ(steps->run({5, 20, 11}), "");
}

TEST(Decoders, AllLengthsAreOnePlan) {
  nn::DecoderConfig config = nn::testing::small_config();
  config.context = 200;
  auto steps = steps_of(config);
  ASSERT_TRUE(steps) << steps.error().text();
  EXPECT_EQ(steps->run({1}), "");
  const uint64_t before = steps->context->plans_made();
  for (int64_t k = 0; k < 199; ++k) ASSERT_EQ(steps->run({k % nn::testing::kVocabulary}), "") << k;
  EXPECT_EQ(steps->context->plans_made(), before);
  EXPECT_NE(steps->run({1}), "") << "the cache is full";
}

/// The logits after the last of the tokens, which run in chunks of these sizes, then one by one.
std::vector<float> logits_in_chunks(const nn::DecoderConfig& config, const std::vector<int64_t>& tokens,
                                    const std::vector<size_t>& chunks) {
  auto steps = steps_of(config);
  if (!steps) return {};
  std::vector<float> logits;
  for (size_t at = 0, k = 0; at < tokens.size(); ++k) {
    const size_t end = std::min(tokens.size(), at + (k < chunks.size() ? chunks[k] : 1));
    const std::vector<int64_t> chunk(tokens.begin() + static_cast<ptrdiff_t>(at), tokens.begin() + static_cast<ptrdiff_t>(end));
    const auto got = steps->context->run(std::vector{Tensor::of_i64({1, static_cast<int64_t>(chunk.size())}, chunk)}, tests::run_options());
    if (!got) return {};
    const auto values = (*got)[0].as<float>();
    logits.assign(values.begin(), values.end());
    at = end;
  }
  return logits;
}

TEST(Decoders, LogitsHaveTheSameBitsInAllChunkings) {
  nn::DecoderConfig config = nn::testing::small_config();
  config.width = 64;
  config.head_size = 16;
  config.inner_width = 160;
  config.context = 400;
  config.rotated_size = 16;
  std::vector<int64_t> tokens;
  for (int64_t t = 0; t < 300; ++t) tokens.push_back(t * t % nn::testing::kVocabulary);
  const std::vector<float> all = logits_in_chunks(config, tokens, {tokens.size()});
  ASSERT_FALSE(all.empty());
  for (const auto& chunks : std::vector<std::vector<size_t>>{{}, {7, 64, 1, 3, 100}, {299}, {31, 16, 17, 200}}) {
    const std::vector<float> other = logits_in_chunks(config, tokens, chunks);
    ASSERT_EQ(other.size(), all.size());
    EXPECT_EQ(std::memcmp(other.data(), all.data(), all.size() * sizeof(float)), 0) << chunks.size() << ": " << other[0] - all[0];
  }
}

}  // namespace
}  // namespace tenon::compiler
