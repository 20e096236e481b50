// SPDX-License-Identifier: Apache-2.0
// Decoders of src/nn as engines: each step against the reference, and one plan for all lengths.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstring>
#include <numeric>
#include <random>

#include "../nn/small_decoder.h"
#include "helpers.h"
#include "nn/decoder/decoder.h"
#include "ops/reference/stateful_run.h"
#include "seeds.h"
#include "stored_matrices.h"

namespace tenon::compiler {
namespace {

/// Steps of a decoder, by the engine and by reference.
struct Steps {
  std::unique_ptr<ir::Graph> graph;
  std::shared_ptr<const runtime::Engine> engine;
  std::unique_ptr<runtime::Context> context;
  ops::StatefulRun reference;

  /// Empty where the logits are those of the reference. factor: of the tolerance.
  std::string run(const std::vector<int64_t>& tokens, double factor = 1) {
    const std::vector<Tensor> inputs{Tensor::of_i64({1, static_cast<int64_t>(tokens.size())}, tokens)};
    const auto want = reference.step(*graph, inputs);
    if (!want) return "reference: " + want.error().text();
    const auto got = context->run(inputs, tests::run_options());
    return got ? testing::difference((*want)[0], (*got)[0], factor) : got.error().text();
  }
};

Result<Steps> steps_of(const nn::DecoderConfig& config, const nn::Weights& weights, const nn::DecoderOptions& how = {}) {
  Steps out;
  out.graph = TRY(nn::make_decoder(config, weights, how));
  CompileOptions options = tests::compile_options(3);
  options.verify = true;
  out.engine = TRY(tests::engine_from(TRY(compile(out.graph->clone(), options)), options));
  out.context = TRY(runtime::Context::create(out.engine));
  return out;
}

Result<Steps> steps_of(const nn::DecoderConfig& config) { return steps_of(config, nn::testing::weights_of(config)); }

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

/// The logits after the last of the tokens, which run from the beginning, in chunks of these sizes, then one by one.
std::vector<float> logits_in_chunks(Steps& steps, const std::vector<int64_t>& tokens, const std::vector<size_t>& chunks) {
  steps.context->reset();
  std::vector<float> logits;
  for (size_t at = 0, k = 0; at < tokens.size(); ++k) {
    const size_t end = std::min(tokens.size(), at + (k < chunks.size() ? chunks[k] : 1));
    const std::vector<int64_t> chunk(tokens.begin() + static_cast<ptrdiff_t>(at), tokens.begin() + static_cast<ptrdiff_t>(end));
    const auto got = steps.context->run(std::vector{Tensor::of_i64({1, static_cast<int64_t>(chunk.size())}, chunk)}, tests::run_options());
    if (!got) return {};
    const auto values = (*got)[0].as<float>();
    logits.assign(values.begin(), values.end());
    at = end;
  }
  return logits;
}

/// The same of an engine of its own.
std::vector<float> logits_in_chunks(const nn::DecoderConfig& config, const nn::Weights& weights, const std::vector<int64_t>& tokens,
                                    const std::vector<size_t>& chunks) {
  auto steps = steps_of(config, weights);
  return steps ? logits_in_chunks(*steps, tokens, chunks) : std::vector<float>();
}

nn::DecoderConfig config_of_long_sequences() {
  nn::DecoderConfig config = nn::testing::config_of_blocks(400);
  config.windows = {0, 70};
  return config;
}

std::vector<int64_t> long_sequence() {
  std::vector<int64_t> tokens;
  for (int64_t t = 0; t < 300; ++t) tokens.push_back(t * t % nn::testing::kVocabulary);
  return tokens;
}

void expect_same_bits(const std::vector<float>& want, const std::vector<float>& got, size_t chunks) {
  ASSERT_EQ(got.size(), want.size());
  EXPECT_EQ(std::memcmp(got.data(), want.data(), want.size() * sizeof(float)), 0) << chunks << " chunks: " << got[0] - want[0];
}

TEST(Decoders, LogitsHaveTheSameBitsInAllChunkings) {
  const nn::DecoderConfig config = config_of_long_sequences();
  const auto weights = nn::testing::weights_of(config);
  const std::vector<int64_t> tokens = long_sequence();
  auto steps = steps_of(config, weights);
  ASSERT_TRUE(steps) << steps.error().text();
  const std::vector<float> all = logits_in_chunks(*steps, tokens, {tokens.size()});
  ASSERT_FALSE(all.empty());
  for (const auto& chunks : std::vector<std::vector<size_t>>{{}, {7, 64, 1, 3, 100}, {299}, {31, 16, 17, 200}})
    expect_same_bits(all, logits_in_chunks(*steps, tokens, chunks), chunks.size());
}

TEST(Decoders, BasesThatGrowGiveTheSameBitsInAllChunkings) {  // dynamic NTK: each query rotates the keys by a base of its own
  nn::DecoderConfig config = config_of_long_sequences();
  std::tie(config.dynamic_context, config.dynamic_factor, config.windows) = std::tuple(37, 4, std::vector<int64_t>{0, 20});
  auto steps = steps_of(config, nn::testing::weights_of(config));
  ASSERT_TRUE(steps) << steps.error().text();
  const std::vector<int64_t> all = long_sequence(), tokens(all.begin(), all.begin() + 80);
  for (const ptrdiff_t count : {16, 16, 11, 1, 1, 7}) EXPECT_EQ(steps->run({all.begin(), all.begin() + count}), "");
  const std::vector<float> one_by_one = logits_in_chunks(*steps, tokens, {});
  ASSERT_FALSE(one_by_one.empty());
  for (const auto& chunks : std::vector<std::vector<size_t>>{{16, 16, 16, 16, 16}, {7, 16, 1, 3, 16, 16, 16}, {16, 5, 15, 2, 16, 13, 11}})
    expect_same_bits(one_by_one, logits_in_chunks(*steps, tokens, chunks), chunks.size());
}

TEST(Decoders, CachesOfSmallTypesEqualTheReferenceWithTheSameBitsInAllChunkings) {
  const nn::DecoderConfig config = config_of_long_sequences();
  const auto weights = nn::testing::weights_of(config);
  const std::vector<int64_t> tokens = long_sequence();
  std::vector<std::vector<float>> found;
  for (const auto cache : {nn::CacheType::f16, nn::CacheType::bf16, nn::CacheType::int8, nn::CacheType::fp8}) {
    auto steps = steps_of(config, weights, {.cache = cache});
    ASSERT_TRUE(steps) << steps.error().text();
    // An element that lies between two stored ones may be rounded to the other one.
    for (const auto& few : std::vector<std::vector<int64_t>>{{3, 17, 0, 22, 9}, {9}, {5, 20, 11}}) EXPECT_EQ(steps->run(few, 200), "");
    found.push_back(logits_in_chunks(*steps, tokens, {tokens.size()}));
    ASSERT_FALSE(found.back().empty());
    for (const auto& chunks : std::vector<std::vector<size_t>>{{7, 64, 1, 3, 100, 100}, {31, 16, 17, 2, 200}})
      expect_same_bits(found.back(), logits_in_chunks(*steps, tokens, chunks), chunks.size());
  }
  EXPECT_NE(found[0], found[1]) << "the type shows";
}

/// Rings wrap: 3 sinks, a window of 100 and runs of at most 60 tokens; a layer keeps a window of 30.
TEST(Decoders, StreamsAreWrittenInPlaceWithTheSameBitsInAllChunkings) {
  nn::DecoderConfig config = config_of_long_sequences();
  config.windows = {0, 30};
  const auto weights = nn::testing::weights_of(config);
  const std::vector<int64_t> tokens = long_sequence();
  for (const auto cache : {nn::CacheType::f32, nn::CacheType::int8}) {
    auto steps = steps_of(config, weights, {.most_tokens = 60, .cache = cache, .window = 100, .sinks = 3});
    ASSERT_TRUE(steps) << steps.error().text();
    if (cache == nn::CacheType::f32)
      for (size_t at = 0; at < tokens.size(); at += 60)
        EXPECT_EQ(steps->run({tokens.begin() + static_cast<ptrdiff_t>(at), tokens.begin() + static_cast<ptrdiff_t>(at + 60)}), "");
    const runtime::Program& program = steps->engine->program();
    for (const runtime::StatePort& s : program.states) {
      uint32_t now = s.new_buffer;
      while (program.buffers[now].kind == runtime::BufferInfo::Kind::alias) now = program.buffers[now].index;
      EXPECT_EQ(now == s.old_buffer, steps->engine->states()[s.state].name != "position") << s.state;
    }
    const std::vector<float> all = logits_in_chunks(*steps, tokens, {60, 60, 60, 60, 60});
    ASSERT_FALSE(all.empty());
    for (const auto& chunks : std::vector<std::vector<size_t>>{{}, {7, 1, 3, 60, 60, 2, 50}, {31, 16, 17, 59}})
      expect_same_bits(all, logits_in_chunks(*steps, tokens, chunks), chunks.size());
  }
}

/// Sequence `row` of a batch.
std::vector<int64_t> sequence_of(int64_t row, int64_t count) {
  std::vector<int64_t> tokens;
  for (int64_t t = 0; t < count; ++t) tokens.push_back((t * t + 5 * row * t + row) % nn::testing::kVocabulary);
  return tokens;
}

/// The logits of each sequence of a batch after all of its tokens, which run in chunks of these sizes.
std::vector<std::vector<float>> logits_of_batch(Steps& steps, int64_t batch, std::span<const int64_t> chunks) {
  steps.context->reset();
  std::vector<std::vector<float>> out(static_cast<size_t>(batch));
  int64_t at = 0;
  for (const int64_t chunk : chunks) {
    std::vector<int64_t> tokens;
    for (int64_t row = 0; row < batch; ++row) {
      const std::vector<int64_t> all = sequence_of(row, at + chunk);
      tokens.insert(tokens.end(), all.begin() + at, all.end());
    }
    at += chunk;
    const auto got = steps.context->run(std::vector{Tensor::of_i64({batch, chunk}, tokens)}, tests::run_options());
    if (!got) return {};
    const auto values = (*got)[0].as<float>();
    for (size_t row = 0; row < out.size(); ++row) {
      const auto own = values.subspan(row * nn::testing::kVocabulary, nn::testing::kVocabulary);
      out[row].assign(own.begin(), own.end());
    }
  }
  return out;
}

TEST(Decoders, BitsOfASequenceDoNotDependOnTheBatch) {
  const nn::DecoderConfig config = config_of_long_sequences();
  const auto weights = nn::testing::weights_of(config);
  auto one = steps_of(config, weights), any = steps_of(config, weights, {.batch = 0});
  ASSERT_TRUE(one && any);
  const int64_t chunks[] = {70, 1, 1, 9, 1};
  for (const int64_t batch : {3, 1, 2}) {
    const auto found = logits_of_batch(*any, batch, chunks);
    ASSERT_EQ(found.size(), static_cast<size_t>(batch));
    for (int64_t row = 0; row < batch; ++row)
      expect_same_bits(logits_in_chunks(*one, sequence_of(row, 82), {82}), found[static_cast<size_t>(row)], std::size(chunks));
  }
}

TEST(Decoders, StoredMatricesGiveTheBitsOfDecodedOnesInAllChunkings) {
  const nn::DecoderConfig config = config_of_long_sequences();
  const auto weights = nn::testing::weights_of(config);
  const std::vector<int64_t> tokens = long_sequence();
  for (const char* format : {"Q4_0", "Q4_1", "Q8_0", "F16", "BF16"}) {
    const StoredMatrices stored(weights, format, false), decoded(weights, format, true);
    const std::vector<float> all = logits_in_chunks(config, decoded, tokens, {tokens.size()});
    ASSERT_FALSE(all.empty());
    for (const auto& chunks : std::vector<std::vector<size_t>>{{300}, {64, 2, 3, 4, 5, 6, 7, 8, 150}}) {
      SCOPED_TRACE(format);
      expect_same_bits(all, logits_in_chunks(config, stored, tokens, chunks), chunks.size());
    }
  }
}

/// Of an engine of these weights in any weather: portable files and other backends keep decoded weights. 0: an error.
uint64_t weight_bytes_of(const nn::DecoderConfig& config, const nn::Weights& weights) {
  auto graph = nn::make_decoder(config, weights, {});
  auto compiled = graph ? compile(*std::move(graph), {}) : std::unexpected(graph.error());
  const auto engine = compiled ? load_compiled(*std::move(compiled)) : std::unexpected(compiled.error());
  return engine ? (*engine)->programs().weight_bytes : 0;
}

TEST(Decoders, NarrowMatricesTakeHalfTheMemory) {
  const nn::DecoderConfig config = config_of_long_sequences();
  const auto weights = nn::testing::weights_of(config);
  const uint64_t wide = weight_bytes_of(config, StoredMatrices(weights, "BF16", true));
  const uint64_t narrow = weight_bytes_of(config, StoredMatrices(weights, "BF16", false));
  EXPECT_GT(narrow, wide * 45 / 100);
  EXPECT_LT(narrow, wide * 60 / 100);
}

/// Values in another format than the rest of their layer, as mixtures of llama.cpp have them.
class Mixture : public nn::Weights {
 public:
  Mixture(const nn::Weights& of) : of_(of), values_(of, "Q8_0", false), others_(of, "Q4_1", false) {}
  std::vector<std::string> names() const override { return of_.names(); }
  std::optional<Sizes> shape_of(std::string_view name) const override { return of_.shape_of(name); }
  ir::ConstantRef constant(std::string_view name) const override {
    return name.find("attn_v") == name.npos ? others_.constant(name) : values_.constant(name);
  }

 private:
  const nn::Weights& of_;
  StoredMatrices values_, others_;
};

TEST(Decoders, MatricesOfSeveralFormatsStayInBlocks) {
  const nn::DecoderConfig config = config_of_long_sequences();
  const auto weights = nn::testing::weights_of(config);
  const uint64_t mixed = weight_bytes_of(config, Mixture(weights)),
                 others = weight_bytes_of(config, StoredMatrices(weights, "Q4_1", false));
  const auto values = static_cast<uint64_t>(config.layers * config.key_heads * config.head_size * config.width);  // 34 bytes for 32 of them
  EXPECT_GT(mixed, others);
  EXPECT_LT(mixed, others + 3 * values * 34 / 32) << "values alone are larger, and lanes that fill up panels";
}

TEST(Decoders, WeightsInBlocksEqualTheReference) {
  const nn::DecoderConfig config = config_of_long_sequences();
  const auto weights = nn::testing::weights_of(config);
  for (const char* format : {"Q4_0", "Q4_1", "Q8_0"}) {
    auto steps = steps_of(config, StoredMatrices(weights, format, false));
    ASSERT_TRUE(steps) << steps.error().text();
    EXPECT_EQ(steps->run({3, 17, 0, 22, 9, 1, 1, 5}), "") << format;
    for (int64_t token : {9, 1}) EXPECT_EQ(steps->run({token}), "") << format;
  }
}

/// On so many threads.
runtime::RunOptions options_of(int threads) {
  static ThreadPool pool(3);
  runtime::RunOptions options = tests::run_options();
  options.thread_pool = &pool;
  options.threads = threads;
  return options;
}

/// A random decoder, and calls of it.
class RandomCase {
 public:
  explicit RandomCase(uint64_t seed) : random_(seed) {
    config.layers = 1 + pick(2);
    config.key_heads = one_of({1, 1, 2, 3});
    config.heads = config.key_heads * one_of({1, 2, 3, 4, 9});
    config.head_size = one_of({4, 8, 16, 20, 32, 64});
    config.width = 32 * (1 + pick(3));
    config.inner_width = one_of({32, 96, 160, 1056});
    config.context = one_of({20, 90, 300, 700});
    config.rotation = std::array{nn::Rotation::none, nn::Rotation::interleaved, nn::Rotation::half_split}[pick(3)];
    config.rotated_size = config.rotation == nn::Rotation::none ? 0 : config.head_size;
    config.linear_bias = pick(5) == 0;
    config.gated = pick(3) > 0;
    if (pick(4) == 0) config.score_softcap = 20;
    for (int64_t l = 0; l < config.layers && pick(2) == 0; ++l) config.windows = {0, one_of({1, 5, 70, 256, 300})};
    config.windows.resize(config.windows.empty() ? 0 : static_cast<size_t>(config.layers));
    format = std::array{"", "Q4_0", "Q8_0", "BF16"}[pick(4)];
    cache = std::array{nn::CacheType::f32, nn::CacheType::f16, nn::CacheType::bf16, nn::CacheType::int8}[pick(4)];
    batch = one_of({1, 2, 3, 5, 16});
    fixed_batch = pick(2) == 0;
    all_logits = pick(2) == 0;
    for (int64_t left = config.context - pick(5); left > 0 && chunks.size() < 40; left -= chunks.back())
      chunks.push_back(std::min(left, one_of({1, 1, 1 + pick(8), 1 + pick(64), 1 + pick(400)})));
  }

  std::string text() const {
    return fmt::format("{} layers, {} heads of {}, {} key heads, width {}, inner width {}, windows {}, weights {}, cache {}, {} batch {}{}",
                       config.layers, config.heads, config.head_size, config.key_heads, config.width, config.inner_width, config.windows,
                       format.empty() ? "f32" : format, static_cast<int>(cache), fixed_batch ? "fixed" : "any", batch,
                       all_logits ? ", all logits" : "") +
           fmt::format(", chunks {}", chunks);
  }
  int64_t pick(size_t count) { return std::uniform_int_distribution<int64_t>(0, static_cast<int64_t>(count) - 1)(random_); }
  int64_t one_of(std::initializer_list<int64_t> values) { return values.begin()[pick(values.size())]; }

  nn::DecoderConfig config;
  std::string format;  ///< of matrices; empty: f32
  nn::CacheType cache;
  int64_t batch;
  bool fixed_batch, all_logits;
  std::vector<int64_t> chunks;

 private:
  std::mt19937_64 random_;
};

/// A batch in chunks on 1, 2 or 3 threads: the logits of each sequence are those of a run that has it alone, as one chunk, on one thread.
void check_bits(uint64_t seed) {
  RandomCase drawn(seed);
  SCOPED_TRACE("TENON_SEED=" + std::to_string(seed) + ": " + drawn.text());
  const auto plain = nn::testing::weights_of(drawn.config);
  const StoredMatrices stored(plain, drawn.format.empty() ? "Q4_0" : drawn.format, false);
  const nn::Weights& weights = drawn.format.empty() ? static_cast<const nn::Weights&>(plain) : stored;
  auto alone = steps_of(drawn.config, weights, {.cache = drawn.cache, .all_logits = true});
  auto steps =
      steps_of(drawn.config, weights, {.cache = drawn.cache, .batch = drawn.fixed_batch ? drawn.batch : 0, .all_logits = drawn.all_logits});
  ASSERT_TRUE(alone && steps) << (alone ? steps.error() : alone.error()).text();
  const int64_t total = std::accumulate(drawn.chunks.begin(), drawn.chunks.end(), int64_t{0});
  std::vector<std::vector<float>> want;
  for (int64_t row = 0; row < drawn.batch; ++row) {
    alone->context->reset();
    const auto logits = alone->context->run(std::vector{Tensor::of_i64({1, total}, sequence_of(row, total))}, options_of(1));
    ASSERT_TRUE(logits) << logits.error().text();
    want.emplace_back((*logits)[0].as<float>().begin(), (*logits)[0].as<float>().end());
  }
  int64_t at = 0;
  for (const int64_t chunk : drawn.chunks) {
    std::vector<int64_t> tokens;
    for (int64_t row = 0; row < drawn.batch; ++row) {
      const std::vector<int64_t> all = sequence_of(row, at + chunk);
      tokens.insert(tokens.end(), all.begin() + at, all.end());
    }
    const auto got = steps->context->run(std::vector{Tensor::of_i64({drawn.batch, chunk}, tokens)}, options_of(1 + drawn.pick(3)));
    ASSERT_TRUE(got) << got.error().text();
    at += chunk;
    const int64_t count = (drawn.all_logits ? chunk : 1) * nn::testing::kVocabulary;
    for (int64_t row = 0; row < drawn.batch; ++row) {
      const float* const own = want[static_cast<size_t>(row)].data() + at * nn::testing::kVocabulary - count;
      const float* const found = (*got)[0].as<float>().data() + row * count;
      ASSERT_EQ(std::memcmp(found, own, static_cast<size_t>(count) * sizeof(float)), 0)
          << "sequence " << row << ", chunk of " << chunk << " before token " << at << ": " << found[count - 1] << " for "
          << own[count - 1];
    }
  }
}

/// TENON_GRAPHS=200 runs that many (seeds.h).
TEST(RandomDecoders, SequencesHaveTheBitsOfEachAloneInOneRun) { tests::each_seed(2, check_bits); }

}  // namespace
}  // namespace tenon::compiler
