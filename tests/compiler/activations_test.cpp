// SPDX-License-Identifier: Apache-2.0
// Engines whose products with matrices in blocks round their other operand: machine code, chunkings, threads.
#include <gtest/gtest.h>

#include <cmath>

#include "../nn/small_decoder.h"
#include "compiler/load.h"
#include "helpers.h"
#include "nn/decoder/decoder.h"
#include "stored_matrices.h"

namespace tenon::compiler {
namespace {

using codegen::Activations;

bool has(Activations activations) { return codegen::check_activations(activations, **codegen::target_for()).has_value(); }

std::shared_ptr<runtime::Engine> engine_with(Activations activations, const char* format, bool decoded = false) {
  const nn::DecoderConfig config = nn::testing::config_of_blocks(100);
  CompileOptions options;
  options.activations = activations;
  const auto weights = nn::testing::weights_of(config);
  auto compiled = compile(*nn::make_decoder(config, StoredMatrices(weights, format, decoded), {}), options);
  EXPECT_TRUE(compiled) << compiled.error().text();
  return *load_compiled(*std::move(compiled));
}

/// The logits after 40 tokens, in chunks of so many.
std::vector<float> logits(const std::shared_ptr<runtime::Engine>& engine, int64_t chunk) {
  const auto context = *runtime::Context::create(engine);
  std::vector<float> out;
  for (int64_t at = 0; at < 40; at += chunk) {
    std::vector<int64_t> tokens;
    for (int64_t t = at; t < std::min<int64_t>(40, at + chunk); ++t) tokens.push_back(t * t % nn::testing::kVocabulary);
    const auto got = context->run(std::vector{Tensor::of_i64({1, static_cast<int64_t>(tokens.size())}, tokens)});
    EXPECT_TRUE(got) << got.error().text();
    const auto numbers = (*got)[0].as<float>();
    out.assign(numbers.begin(), numbers.end());
  }
  return out;
}

/// The root mean square difference over the deviation of `exact`.
double error_of(const std::vector<float>& found, const std::vector<float>& exact) {
  double difference = 0, size = 0;
  for (size_t k = 0; k < exact.size(); ++k) difference += std::pow(found[k] - exact[k], 2), size += std::pow(exact[k], 2);
  return std::sqrt(difference / size);
}

void check(Activations activations, double largest_error) {
  for (const char* format : {"Q4_0", "Q4_1", "Q8_0"}) {
    SCOPED_TRACE(format);
    const auto engine = engine_with(activations, format);
    const std::vector<float> exact = logits(engine_with(Activations::f32, format), 40), all = logits(engine, 40);
    EXPECT_GT(error_of(all, exact), 1e-5);
    EXPECT_LT(error_of(all, exact), largest_error);
    for (const int64_t chunk : {1, 7, 13}) EXPECT_EQ(logits(engine, chunk), all) << "chunks of " << chunk;
  }
}

TEST(Activations, OfBf16GiveTheSameBitsInAllChunkings) {
  if (!has(Activations::bf16)) GTEST_SKIP() << "needs a CPU with AVX512_BF16";
  check(Activations::bf16, 0.02);
}

TEST(Activations, OfBytesGiveTheSameBitsInAllChunkings) {
  if (!has(Activations::i8)) GTEST_SKIP() << "needs a CPU with AVX512_VNNI";
  check(Activations::i8, 0.05);
}

TEST(Activations, KeepMatricesInBlocksAndLeaveOthersAsTheyAre) {
  if (!has(Activations::i8)) GTEST_SKIP() << "needs a CPU with AVX512_VNNI";
  EXPECT_EQ(engine_with(Activations::i8, "Q4_1")->programs().weight_bytes, engine_with(Activations::f32, "Q4_1")->programs().weight_bytes);
  EXPECT_EQ(logits(engine_with(Activations::i8, "Q4_1", true), 40), logits(engine_with(Activations::f32, "Q4_1", true), 40));
}

TEST(Activations, AreRefusedForCodeThatLacksThem) {
  CompileOptions options;
  options.activations = Activations::i8;
  options.target = *codegen::target_named("x86_avx512");
  const auto refused = compile(*ir::parse("graph main(x: f32[n,4]) { y = Relu(x) return y }", ops::table()), options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::wrong_target);
  EXPECT_EQ(refused.error()->found, "AVX-512");
}

}  // namespace
}  // namespace tenon::compiler
