// SPDX-License-Identifier: Apache-2.0
// Decoders of src/nn as engines: each step against the reference, and one plan for all lengths.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tenon::compiler
