// SPDX-License-Identifier: Apache-2.0
// Decoders of each kind, in chunks over their cache, against plain loops over the whole sequence.
#include "nn/decoder/decoder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "nn/decoder/parts.h"
#include "nn/families/family.h"
#include "ops/reference/stateful_run.h"
#include "plain_decoder.h"
#include "small_decoder.h"

namespace tenon::nn {
namespace {

using testing::kVocabulary;
using testing::RandomWeights;
using testing::small_config;
using testing::weights_of;

const std::vector<int64_t> kTokens{3, 17, 0, 22, 9, 9, 1, 14, 5, 20, 11};

void each_layer(const DecoderConfig& c, const std::function<void(const std::string& prefix)>& visit) {
  for (int64_t l = 0; l < c.layers; ++l) visit("blk." + std::to_string(l) + ".");
}

/// The logits after the tokens, which run in chunks over the cache.
Result<std::vector<double>> logits_in_chunks(const DecoderConfig& c, const Weights& weights, ops::StatefulRun& run, CacheType cache) {
  const auto graph = TRY(make_decoder(c, weights, {.cache = cache}));
  std::vector<Tensor> got;
  size_t at = 0;
  for (size_t chunk : {5, 1, 1, 3, 1}) {
    const std::span<const int64_t> tokens(kTokens.data() + at, chunk);
    at += chunk;
    const std::vector<Tensor> inputs{Tensor::of_i64({1, static_cast<int64_t>(chunk)}, tokens)};
    got = TRY(run.step(*graph, inputs));
  }
  std::vector<double> out;
  for (int64_t i = 0; i < got.at(0).count(); ++i) out.push_back(got[0].number(i));
  return out;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double out = a.size() == b.size() ? 0 : INFINITY;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) out = std::fmax(out, std::abs(a[i] - b[i]));
  return out;
}

std::string difference_in_chunks(const DecoderConfig& c, const Weights& weights) {
  ops::EvaluateOptions options;
  options.mode = ops::Mode::wide;
  ops::StatefulRun run(options);
  const auto logits = logits_in_chunks(c, weights, run, CacheType::f32);
  if (!logits) return logits.error().text();
  const double difference = largest_difference(*logits, testing::plain_logits(c, weights, kTokens));
  return difference <= 1e-9 ? "" : "logits differ by " + std::to_string(difference);
}

TEST(Decoder, PlainLlama) {
  const DecoderConfig c = small_config();
  EXPECT_EQ(difference_in_chunks(c, weights_of(c)), "");
}

TEST(Decoder, HalvesOfAPartAreRotated) {
  DecoderConfig c = small_config();
  c.rotation = Rotation::half_split;
  c.rotated_size = 4;
  c.rotation_base = 100;
  c.rotation_factor = 2;
  EXPECT_EQ(difference_in_chunks(c, weights_of(c)), "");
}

TEST(Decoder, BiasesAndJoinedProjections) {
  DecoderConfig c = small_config();
  RandomWeights w = weights_of(c);
  each_layer(c, [&](const std::string& layer) {
    for (const char* name : {"attn_q.weight", "attn_k.weight", "attn_v.weight", "ffn_gate.weight"}) w.erase(layer + name);
    w.add(layer + "attn_qkv.weight", {48, c.width});
    w.add(layer + "attn_qkv.bias", {48});
    w.add(layer + "ffn_up.weight", {2 * c.inner_width, c.width});
    w.add(layer + "ffn_down.bias", {c.width});
  });
  w.add("output.weight", {kVocabulary, c.width});
  EXPECT_EQ(difference_in_chunks(c, w), "");
}

TEST(Decoder, LearnedPositionsAndLayerNormalization) {  // as GPT-2
  DecoderConfig c = small_config();
  c.rotation = Rotation::none;
  c.normalization = Normalization::layer;
  c.gated = false;
  c.activation = Activation::gelu_tanh;
  RandomWeights w = weights_of(c);
  w.add("position_embd.weight", {c.context, c.width});
  w.add("output_norm.bias", {c.width});
  each_layer(c, [&](const std::string& layer) { w.add(layer + "attn_norm.bias", {c.width}); });
  EXPECT_EQ(difference_in_chunks(c, w), "");
}

TEST(Decoder, AttentionAndFeedForwardOfOneInput) {  // as Phi-2 and GPT-J: one norm; as GPT-NeoX: two
  DecoderConfig c = small_config();
  c.joint_residual = true;
  c.activation = Activation::gelu;
  RandomWeights w = weights_of(c);
  EXPECT_EQ(difference_in_chunks(c, w), "");
  each_layer(c, [&](const std::string& layer) { w.erase(layer + "ffn_norm.weight"); });
  EXPECT_EQ(difference_in_chunks(c, w), "");
}

TEST(Decoder, WindowsCapsScalesAndNormsAfter) {  // as Gemma 2
  DecoderConfig c = small_config();
  c.norms = NormPlacement::before_and_after;
  c.windows = {3, 0};
  c.score_softcap = 2;
  c.logit_softcap = 3;
  c.score_scale = 0.3;
  c.embedding_scale = 5;
  c.residual_scale = 0.5;
  c.logit_scale = 0.25;
  c.activation = Activation::relu;
  RandomWeights w = weights_of(c);
  each_layer(c, [&](const std::string& layer) {
    for (const char* name : {"post_attention_norm.weight", "post_ffw_norm.weight"}) w.add(layer + name, {c.width}, 1);
    for (const char* name : {"attn_q_norm.weight", "attn_k_norm.weight"}) w.add(layer + name, {c.head_size}, 1);
  });
  EXPECT_EQ(difference_in_chunks(c, w), "");
}

TEST(Decoder, LinearBiasAndNormOfTheEmbedding) {  // as BLOOM
  DecoderConfig c = small_config();
  c.rotation = Rotation::none;
  c.linear_bias = true;
  c.windows = {0, 4};
  RandomWeights w = weights_of(c);
  w.add("token_embd_norm.weight", {c.width}, 1);
  EXPECT_EQ(difference_in_chunks(c, w), "");
}

TEST(Decoder, NormsAfterAloneAndOfAllHeadsTogether) {  // as OLMo 2
  DecoderConfig c = small_config();
  c.norms = NormPlacement::after;
  RandomWeights w = weights_of(c);
  each_layer(c, [&](const std::string& layer) {
    for (const char* name : {"attn_norm.weight", "ffn_norm.weight"}) w.erase(layer + name);
    for (const char* name : {"post_attention_norm.weight", "post_ffw_norm.weight"}) w.add(layer + name, {c.width}, 1);
    w.add(layer + "attn_q_norm.weight", {c.heads * c.head_size}, 1);
    w.add(layer + "attn_k_norm.weight", {c.key_heads * c.head_size}, 1);
  });
  EXPECT_EQ(difference_in_chunks(c, w), "");
}

TEST(Decoder, NormsOfTheirOwnForAttentionAndFeedForward) {  // as Falcon of 40 billion parameters
  DecoderConfig c = small_config();
  c.joint_residual = true;
  RandomWeights w = weights_of(c);
  each_layer(c, [&](const std::string& layer) {
    w.erase(layer + "ffn_norm.weight");
    w.add(layer + "attn_norm_2.weight", {c.width}, 1);
  });
  EXPECT_EQ(difference_in_chunks(c, w), "");
}

TEST(Decoder, ScaledRotations) {
  DecoderConfig c = small_config();
  c.rotation = Rotation::half_split;
  for (int64_t i = 0; i < c.rotated_size / 2; ++i) c.rotation_divisors.push_back(1 + static_cast<double>(i));
  c.rotation_magnitude = 1.25;
  EXPECT_EQ(difference_in_chunks(c, weights_of(c)), "");
  c.windows = {3, 0};
  c.window_rotation_base = 50;  // as Gemma 3
  c.rotation_factor = 8;
  EXPECT_EQ(difference_in_chunks(c, weights_of(c)), "");
}

/// The logits of one run of the first `count` tokens, by the graph.
std::vector<double> logits_of_run(const DecoderConfig& c, const Weights& weights, const DecoderOptions& decoder, size_t count) {
  const auto graph = make_decoder(c, weights, decoder);
  EXPECT_TRUE(graph) << graph.error().text();
  ops::EvaluateOptions options;
  options.mode = ops::Mode::wide;
  ops::StatefulRun run(options);
  auto step = run.step(**graph, std::vector{Tensor::of_i64({1, static_cast<int64_t>(count)}, std::span(kTokens).first(count))});
  EXPECT_TRUE(step) << step.error().text();
  const auto logits = step->at(0).as<double>();
  return {logits.begin(), logits.end()};
}

void expect_near(const std::vector<double>& want, std::span<const double> got, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], tolerance) << i;
}

TEST(Decoder, BasesThatGrowWithTheSequence) {  // dynamic NTK
  DecoderConfig c = small_config();
  const auto weights = weights_of(c);
  const std::vector<double> fixed = testing::plain_logits(c, weights, kTokens);
  c.dynamic_context = 8;  // the end of which is within the run of tokens 7 to 9
  c.dynamic_factor = 4;
  EXPECT_GT(largest_difference(testing::plain_logits(c, weights, kTokens), fixed), 1e-2) << "the base shows";
  EXPECT_EQ(difference_in_chunks(c, weights), "");
  c.rotation = Rotation::half_split;
  c.rotated_size = 4;
  c.rotation_divisors = {1, 1.5};
  c.rotation_magnitude = 1.25;
  c.windows = {3, 0};
  EXPECT_EQ(difference_in_chunks(c, weights), "");
  c.window_rotation_base = 50;
  EXPECT_EQ(difference_in_chunks(c, weights), "");
}

TEST(Decoder, WhatBasesThatGrowDoNotSupport) {
  DecoderConfig c = small_config();
  c.dynamic_context = 8;
  const auto weights = weights_of(c);
  EXPECT_EQ(make_decoder(c, weights, {.has_cache = false}).error()->place, "kv_cache_type");
  EXPECT_EQ(make_decoder(c, weights, {.window = 4}).error()->place, "--window");
  c.context = 1 << 20;  // copies of keys for 2 queries are all that a run may have
  const auto graph = make_decoder(c, weights);
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ((*graph)->value((*graph)->inputs()[0]).type.dim(1).upper(), 2);
}

TEST(Decoder, LogitsOfAllTokensWithoutACacheAndInPlainOps) {
  DecoderConfig c = small_config();
  c.windows = {3, 0};
  c.score_softcap = 2;
  const auto weights = weights_of(c);
  for (const DecoderOptions& o : {DecoderOptions{}, {.has_cache = false}, {.has_cache = false, .plain_attention = true}}) {
    const double tolerance = o.plain_attention ? 1e-6 : 1e-9;  // the definition has its scale and cap as f32
    expect_near(testing::plain_logits(c, weights, kTokens), logits_of_run(c, weights, o, kTokens.size()), tolerance);
    DecoderOptions all = o;
    all.all_logits = true;
    const std::vector<double> rows = logits_of_run(c, weights, all, kTokens.size());
    ASSERT_EQ(rows.size(), kTokens.size() * kVocabulary);
    for (const size_t t : {size_t{1}, size_t{5}, kTokens.size()})
      expect_near(testing::plain_logits(c, weights, {kTokens.begin(), kTokens.begin() + static_cast<ptrdiff_t>(t)}),
                  std::span(rows).subspan((t - 1) * kVocabulary, kVocabulary), tolerance);
  }
}

TEST(Decoder, OptionsShapeTheGraph) {
  const DecoderConfig c = small_config();
  const auto weights = weights_of(c);
  const auto graph = *make_decoder(c, weights, {.most_tokens = 4, .plain_attention = true});
  EXPECT_EQ(graph->value(graph->inputs()[0]).type.text(), "i64[1,new]");
  EXPECT_EQ(graph->value(graph->inputs()[0]).type.dim(1).upper(), 4);
  EXPECT_EQ(graph->states().size(), 4U);
  for (const ir::NodeId id : graph->nodes()) EXPECT_NE(graph->node(id).op->name, "Attention");
  const auto whole = *make_decoder(c, weights, {.capacity = 12, .has_cache = false, .all_logits = true});
  EXPECT_TRUE(whole->states().empty());
  EXPECT_EQ(whole->inputs().size(), 1U);
  EXPECT_EQ(whole->value(whole->inputs()[0]).type.dim(1).upper(), 12);
  EXPECT_EQ(whole->value(whole->outputs()[0]).type.text(), "f32[1,new,23]");
}

TEST(Decoder, SlopesOfHeadsThatAreNoPowerOfTwo) {
  const std::vector<float> want{0.25F, 0.0625F, 0.015625F, 0.00390625F, 0.5F, 0.125F};  // of 4 heads, then every other one of 8
  EXPECT_EQ(bias_slopes(6), want);
}

TEST(Decoder, KeysAndValuesAreRoundedAsTheCacheStoresThem) {
  DecoderConfig c = small_config();
  c.windows = {3, 0};
  const RandomWeights w = weights_of(c);
  const std::vector<double> unrounded = testing::plain_logits(c, w, kTokens);
  for (const auto [cache, dtype, least] : {std::tuple(CacheType::f16, DType::f16, 1e-4),
                                           {CacheType::bf16, DType::bf16, 1e-3},
                                           {CacheType::int8, DType::i8, 1e-3},
                                           {CacheType::fp8, DType::f8e4m3fn, 1e-3}}) {
    const std::vector<double> want = testing::plain_logits(c, w, kTokens, cache);
    EXPECT_GT(largest_difference(want, unrounded), least) << "the type shows";
    ops::StatefulRun run;
    const auto logits = logits_in_chunks(c, w, run, cache);
    ASSERT_TRUE(logits) << logits.error().text();
    EXPECT_LT(largest_difference(*logits, want), 1e-5) << name_of(dtype);
    EXPECT_EQ(run.state("values.1")->dtype(), dtype);
  }
}

/// How far an element may be from what the cache stores of it. largest: magnitude of its token and head.
double code_error(CacheType cache, double element, double largest) {
  return cache == CacheType::int8 ? largest / 254 : std::max(std::abs(element) / 16, largest / 448 / 1024);
}

TEST(Decoder, CodesAreOffByAtMostHalfAStep) {
  const DecoderConfig c = small_config();
  RandomWeights w = weights_of(c);
  w.set("blk.1.attn_k.weight", Tensor::of_f32({12, 24}, std::vector<float>(12 * 24)));
  ops::StatefulRun plain;
  ASSERT_TRUE(logits_in_chunks(c, w, plain, CacheType::f32));
  for (const auto cache : {CacheType::int8, CacheType::fp8}) {
    ops::StatefulRun coded;
    const auto logits = logits_in_chunks(c, w, coded, cache);
    ASSERT_TRUE(logits);
    EXPECT_TRUE(std::ranges::all_of(*logits, [](double x) { return std::isfinite(x); })) << "keys of zeros";
    for (const std::string name : {"keys.0", "values.0", "keys.1"}) {
      const Tensor &rows = *plain.state(name), &codes = *coded.state(name), &scales = *coded.state(name + ".scales");
      ASSERT_EQ(scales.shape(), (Sizes{1, 2, 11, 1}));
      for (int64_t i = 0; i < rows.count(); ++i) {
        const int64_t row = i / c.head_size;
        double largest = 0;
        for (int64_t k = 0; k < c.head_size; ++k) largest = std::fmax(largest, std::abs(rows.number(row * c.head_size + k)));
        const double found = codes.number(i) * scales.number(row);
        EXPECT_LE(std::abs(found - rows.number(i)), code_error(cache, rows.number(i), largest) * (1 + 1e-5)) << name << " " << i;
      }
    }
  }
}

TEST(Decoder, NamesAllWeightsThatDoNotFit) {
  const DecoderConfig c = small_config();
  RandomWeights w = weights_of(c);
  w.erase("blk.1.ffn_down.weight");
  w.add("blk.0.attn_k.weight", {c.width, c.width});
  w.add("blk.7.attn_q.weight", {2, 2});
  const auto graph = make_decoder(c, w);
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error()->found,
            "1 missing: blk.1.ffn_down.weight [24, 40]; 1 of another shape: blk.0.attn_k.weight [12, 24] is [24, 24]; "
            "1 left over: blk.7.attn_q.weight");
}

Result<DecoderConfig> config_of(std::string_view architecture, const Hyperparameters& model) {
  return decoder_config(*TRY(family_of(architecture)), model);
}

TEST(Families, LlamaReadsItsHyperparameters) {
  Hyperparameters model;
  EXPECT_EQ(config_of("lama", model).error()->advice, "did you mean 'llama'?");
  EXPECT_EQ(config_of("llama", model).error()->place, "hyperparameter 'block_count'");
  for (auto [key, value] : {std::pair<const char*, int64_t>{"block_count", 3},
                            {"embedding_length", 64},
                            {"context_length", 128},
                            {"feed_forward_length", 96},
                            {"attention.head_count", 8},
                            {"attention.head_count_kv", 2}})
    model.set(key, value);
  model.set("rope.freq_base", 5e5);
  const auto config = config_of("llama", model);
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->head_size, 8);
  EXPECT_EQ(config->rotated_size, 8);
  EXPECT_EQ(config->rotation_base, 5e5);
  EXPECT_EQ(config->key_heads, 2);
  model.set("attention.head_count_kv", int64_t{3});
  EXPECT_EQ(config_of("llama", model).error()->expected, "a divisor of attention.head_count, 8");
  model.set("attention.head_count_kv", -1.5);
  EXPECT_EQ(config_of("llama", model).error()->found, "-1.5");
}

Hyperparameters sizes_of_a_model(int64_t layers) {
  Hyperparameters model;
  for (auto [key, value] : {std::pair<const char*, int64_t>{"block_count", layers},
                            {"embedding_length", 96},
                            {"context_length", 128},
                            {"feed_forward_length", 96},
                            {"attention.head_count", 6},
                            {"attention.key_length", 32}})
    model.set(key, value);
  return model;
}

TEST(Families, Gemma2OfGgufScalesScoresByItsDepth) {
  EXPECT_EQ(config_of("gemma2", sizes_of_a_model(42))->score_scale, 0) << "by the size of a head";
  EXPECT_EQ(config_of("gemma2", sizes_of_a_model(46))->score_scale, 0.25);
  EXPECT_TRUE(config_of("gemma2", sizes_of_a_model(42))->windows.empty()) << "the file gives no window";
}

TEST(Families, DynamicRotationsGrowBeyondTheContextOfTheTraining) {
  Hyperparameters model = sizes_of_a_model(2);
  model.set("rope.scaling.type", "dynamic");
  model.set("rope.scaling.factor", 4.0);
  const auto config = config_of("llama", model);
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->dynamic_context, 128);
  EXPECT_EQ(config->dynamic_factor, 4);
  EXPECT_EQ(config->context, 512);
  model.set("rope.scaling.factor", -1.0);
  EXPECT_EQ(config_of("llama", model).error()->place, "hyperparameter 'rope.scaling.factor'");
  model.set("rope.scaling.factor", 4.0);
  model.set("rope.dimension_count", int64_t{2});
  EXPECT_EQ(config_of("llama", model).error()->place, "hyperparameter 'rope.dimension_count'");
}

TEST(Families, GraniteRefusesToDivideByZero) {
  Hyperparameters model = sizes_of_a_model(2);
  model.set("logit_scale", 4.0);
  EXPECT_EQ(config_of("granite", model)->logit_scale, 0.25);
  model.set("logit_scale", 0.0);
  EXPECT_EQ(config_of("granite", model).error()->place, "hyperparameter 'logit_scale'");
}

}  // namespace
}  // namespace tenon::nn
