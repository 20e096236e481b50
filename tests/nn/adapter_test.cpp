// SPDX-License-Identifier: Apache-2.0
// Adapters of PEFT and GGUF merged into small checkpoints, against W + scale * alpha / r * B * A in plain loops.
#include "nn/adapters/adapter.h"

#include <gtest/gtest.h>

#include <cmath>

#include "../files/temporary_folder.h"
#include "adapter_checks.h"
#include "nn/decoder/decoder.h"
#include "ops/reference/stateful_run.h"
#include "plain_decoder.h"
#include "small_decoder.h"

namespace tenon::nn {
namespace {

using namespace testing;

TEST(Adapters, OfPeftAddScaledProducts) {
  const files::TemporaryFolder folder;
  const NamedTensors t = query_and_down();
  write_peft(folder / "a", kConfig, t);
  for (const auto& path : {folder / "a", folder / "a" / "adapter_model.safetensors"}) {
    Checkpoint c = llama();
    const auto warnings = merge(c, path, 0.5);
    ASSERT_TRUE(warnings) << warnings.error().text();
    EXPECT_TRUE(warnings->empty());
    const Checkpoint before = llama();
    expect_changed(c, before, "blk.0.attn_q.weight", product_of(t.at(kQuery + ".lora_B.weight"), t.at(kQuery + ".lora_A.weight"), 1));
    expect_changed(c, before, "blk.1.ffn_down.weight", product_of(t.at(kDown + ".lora_B.weight"), t.at(kDown + ".lora_A.weight"), 1));
    EXPECT_EQ(values_of(*c.weights, "blk.1.attn_q.weight"), values_of(*before.weights, "blk.1.attn_q.weight"));
    EXPECT_EQ(c.weights->names(), before.weights->names());
  }
}

TEST(Adapters, LogitsAreThoseOfTheChangedWeights) {
  const files::TemporaryFolder folder;
  const NamedTensors t = query_and_down();
  write_peft(folder / "a", kConfig, t);
  DecoderConfig config = small_config();
  config.rotation = Rotation::half_split;
  Checkpoint c = llama();
  ASSERT_TRUE(merge(c, folder / "a"));
  RandomWeights by_hand = weights_of(config);
  for (const auto& [name, module] : {std::pair{"blk.0.attn_q.weight", kQuery}, {"blk.1.ffn_down.weight", kDown}}) {
    std::vector<float> sum = values_of(by_hand, name);
    const auto change = product_of(t.at(module + ".lora_B.weight"), t.at(module + ".lora_A.weight"), 2);
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += change[i];
    by_hand.set(name, Tensor::of_f32(*by_hand.shape_of(name), sum));
  }
  const std::vector<int64_t> tokens{3, 17, 0, 22, 9};
  const std::vector<double> want = plain_logits(config, by_hand, tokens);
  EXPECT_GT(std::abs(want[0] - plain_logits(config, weights_of(config), tokens)[0]), 1e-3);
  const auto graph = make_decoder(config, *c.weights);
  ASSERT_TRUE(graph) << graph.error().text();
  ops::EvaluateOptions options;
  options.mode = ops::Mode::wide;
  ops::StatefulRun run(options);
  const auto got = run.step(**graph, std::vector{Tensor::of_i64({1, 5}, tokens)});
  ASSERT_TRUE(got) << got.error().text();
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR((*got)[0].as<double>()[i], want[i], 1e-6) << i;
}

TEST(Adapters, ScalesFollowTheConfiguration) {
  const files::TemporaryFolder folder;
  const NamedTensors t = query_and_down();
  const auto expect_factors = [&](const std::string& config, double of_query, double of_down) {
    SCOPED_TRACE(config);
    write_peft(folder / "a", config, t);
    Checkpoint c = llama();
    const auto merged = merge(c, folder / "a");
    ASSERT_TRUE(merged) << merged.error().text();
    expect_changed(c, llama(), "blk.0.attn_q.weight",
                   product_of(t.at(kQuery + ".lora_B.weight"), t.at(kQuery + ".lora_A.weight"), of_query));
    expect_changed(c, llama(), "blk.1.ffn_down.weight",
                   product_of(t.at(kDown + ".lora_B.weight"), t.at(kDown + ".lora_A.weight"), of_down));
  };
  const double root = std::sqrt(3.0);
  expect_factors(R"({"peft_type": "LORA", "lora_alpha": 6, "use_rslora": true, "use_dora": false})", 6 / root, 6 / root);
  expect_factors(R"({"peft_type": "LORA", "lora_alpha": 6, "rank_pattern": {"q_proj": 3}, "alpha_pattern": {"mlp.down_proj": 9}})", 2, 3);
  expect_factors(R"({"peft_type": "LORA", "lora_alpha": 6, "alpha_pattern": {"^model.layers.0.self_attn.q_proj": 3, "own_proj": 9}})", 1,
                 2);
  expect_factors(R"({"peft_type": "LORA", "lora_alpha": 6, "layer_replication": null, "init_lora_weights": "gaussian"})", 2, 2);
}

TEST(Adapters, AreMergedOneAfterTheOther) {
  const files::TemporaryFolder folder;
  const NamedTensors t = query_and_down();
  write_peft(folder / "a", kConfig, t);
  Checkpoint c = llama();
  ASSERT_TRUE(merge_adapters(std::vector{AdapterFile{folder / "a", 2}, AdapterFile{folder / "a", -1.5}}, c));
  expect_changed(c, llama(), "blk.0.attn_q.weight", product_of(t.at(kQuery + ".lora_B.weight"), t.at(kQuery + ".lora_A.weight"), 1));
}

TEST(Adapters, OfEitherKindFitCheckpointsOfEitherKind) {
  const files::TemporaryFolder folder;
  const std::string key = "base_model.model.model.layers.1.self_attn.k_proj";
  const Tensor a = random_tensor({3, 24}), b = random_tensor({12, 3});
  write_peft(folder / "peft", kConfig, {{key + ".lora_A.weight", a}, {key + ".lora_B.weight", b}});
  write_gguf(folder / "a.gguf",
             {{"general.type", "adapter"}, {"general.architecture", "llama"}, {"adapter.type", "lora"}, {"adapter.lora.alpha", 6.0F}},
             {{"blk.1.attn_k.weight.lora_a", a}, {"blk.1.attn_k.weight.lora_b", neighbors(b, 2)}});
  for (const char* adapter : {"peft", "a.gguf"})
    for (const bool is_folder : {true, false}) {
      SCOPED_TRACE(adapter);
      Checkpoint c = llama(is_folder);
      const auto merged = merge(c, folder / adapter);
      ASSERT_TRUE(merged) << merged.error().text();
      expect_changed(c, llama(is_folder), "blk.1.attn_k.weight", product_of(is_folder ? b : neighbors(b, 2), a, 2));
    }
}

TEST(Adapters, EmbeddingsAreTransposed) {
  const files::TemporaryFolder folder;
  const std::string table = "base_model.model.model.embed_tokens";
  const Tensor a = random_tensor({3, kVocabulary}), b = random_tensor({24, 3});
  write_peft(folder / "peft", kConfig, {{table + ".lora_embedding_A", a}, {table + ".lora_embedding_B", b}});
  Checkpoint c = llama();
  const auto warnings = merge(c, folder / "peft");
  ASSERT_TRUE(warnings) << warnings.error().text();
  ASSERT_EQ(warnings->size(), 1U);
  const std::vector<float> product = product_of(b, a, 2);  // [width, vocabulary]
  std::vector<float> change(product.size());
  for (size_t i = 0; i < 24; ++i)
    for (size_t k = 0; k < kVocabulary; ++k) change[k * 24 + i] = product[i * kVocabulary + k];
  expect_changed(c, llama(), "token_embd.weight", change);
  EXPECT_EQ(values_of(*c.weights, "output.weight"), values_of(*llama().weights, "token_embd.weight")) << "it was the same table";
  EXPECT_TRUE(make_decoder(small_config(), *c.weights));
  const Tensor rows = Tensor::of_f32({kVocabulary, 3}, [&] {
    std::vector<float> out;
    for (size_t v = 0; v < kVocabulary; ++v)
      for (size_t k = 0; k < 3; ++k) out.push_back(a.as<float>()[k * kVocabulary + v]);
    return out;
  }());
  write_gguf(folder / "a.gguf", {{"general.type", "adapter"}, {"general.architecture", "llama"}, {"adapter.type", "lora"}},
             {{"token_embd.weight.lora_a", rows}, {"token_embd.weight.lora_b", b}});
  Checkpoint second = llama();
  ASSERT_TRUE(merge(second, folder / "a.gguf", 2));
  expect_changed(second, llama(), "token_embd.weight", change);
}

TEST(Adapters, WeightsOfModulesToSaveReplaceThoseOfTheCheckpoint) {
  const files::TemporaryFolder folder;
  NamedTensors t = query_and_down();
  const Tensor head = random_tensor({kVocabulary, 24}), norm = random_tensor({24}), bias = random_tensor({24});
  t.emplace("base_model.model.lm_head.weight", head);
  t.emplace("base_model.model.model.norm.weight", norm);
  t.emplace(kQuery + ".base_layer.bias", bias);
  write_peft(folder / "a", kConfig, t);
  RandomWeights biased = weights_of(small_config());
  biased.add("blk.0.attn_q.bias", {24});
  Checkpoint c = checkpoint_of("llama", std::move(biased));
  const auto warnings = merge(c, folder / "a", 0.5);
  ASSERT_TRUE(warnings) << warnings.error().text();
  EXPECT_EQ(warnings->size(), 1U) << "the output's table";
  const auto same = [&](const char* name, const Tensor& want) {
    const auto got = values_of(*c.weights, name);
    EXPECT_TRUE(std::ranges::equal(got, want.as<float>())) << name;
  };
  same("output.weight", head);
  same("output_norm.weight", norm);
  same("blk.0.attn_q.bias", bias);
  EXPECT_EQ(values_of(*c.weights, "token_embd.weight"), values_of(*llama().weights, "token_embd.weight"));
}

TEST(Adapters, EmbeddingsMayBeReplacedAndUpdated) {  // PEFT's save_embedding_layers
  const files::TemporaryFolder folder;
  const std::string head = "base_model.model.lm_head";
  const Tensor a = random_tensor({3, 24}), b = random_tensor({kVocabulary, 3}), whole = random_tensor({kVocabulary, 24});
  write_peft(folder / "a", kConfig, {{head + ".base_layer.weight", whole}, {head + ".lora_A.weight", a}, {head + ".lora_B.weight", b}});
  Checkpoint c = llama();
  const auto merged = merge(c, folder / "a", 0.5);
  ASSERT_TRUE(merged) << merged.error().text();
  const std::vector<float> got = values_of(*c.weights, "output.weight"), change = product_of(b, a, 1);
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], whole.as<float>()[i] + change[i], 1e-6) << i;
}

TEST(Adapters, UpdatesFollowTheLayoutOfTheFamily) {
  const files::TemporaryFolder folder;
  const Tensor a = random_tensor({3, 24}), b = random_tensor({72, 3});
  RandomWeights w;
  w.add("blk.0.attn_qkv.weight", {72, 24});
  const std::vector<float> product = product_of(b, a, 2);
  for (const auto& [family, module] : {std::pair{"gpt2", "transformer.h.0.attn.c_attn"},
                                       {"gpt2", "h.0.attn.c_attn"},
                                       {"gptneox", "gpt_neox.layers.0.attention.query_key_value"}}) {
    SCOPED_TRACE(module);
    const std::string name = std::string("base_model.model.") + module;
    write_peft(folder / "a", R"({"peft_type": "LORA", "lora_alpha": 6, "fan_in_fan_out": true})",
               {{name + ".lora_A.weight", a}, {name + ".lora_B.weight", b}});
    Checkpoint c = checkpoint_of(family, w);
    const auto merged = merge(c, folder / "a");
    ASSERT_TRUE(merged) << merged.error().text();
    std::vector<float> want = product;
    if (std::string_view(family) == "gptneox")  // a head of q, of k and of v after the other, in 4 groups of 3 * 6 rows
      for (size_t row = 0; row < 72; ++row)
        for (size_t k = 0; k < 24; ++k) want[(row / 6 % 3 * 24 + row / 18 * 6 + row % 6) * 24 + k] = product[row * 24 + k];
    expect_changed(c, checkpoint_of(family, w), "blk.0.attn_qkv.weight", want);
  }
}

TEST(Adapters, TensorsThatDoNotFitAreOneError) {
  const files::TemporaryFolder folder;
  NamedTensors t = query_and_down();
  for (const char* end : {".lora_A.weight", ".lora_B.weight"}) {
    t.emplace("base_model.model.model.layers.0.self_attn.v_prj" + std::string(end), random_tensor({24, 24}));
    t.emplace("base_model.model.model.layers.0.self_attn.k_proj" + std::string(end), random_tensor({24, 24}));
  }
  t.emplace("base_model.model.model.layers.1.mlp.up_proj.lora_A.weight", random_tensor({3, 24}));
  t.emplace("base_model.model.what", random_tensor({3}));
  write_peft(folder / "a", kConfig, t);
  Checkpoint c = llama();
  const Error error = error_of(c, folder / "a");
  EXPECT_EQ(error.code(), Code::bad_input);
  EXPECT_EQ(error->found,
            "1 that match no weight: model.layers.0.self_attn.v_prj.weight; "
            "1 of other sizes: model.layers.0.self_attn.k_proj.weight gives [24, 24] for [12, 24]; "
            "1 without the other matrix: base_model.model.model.layers.1.mlp.up_proj.lora_A.weight; "
            "1 of no known meaning: base_model.model.what");
  EXPECT_EQ(error->advice, "did you mean 'model.layers.0.self_attn.v_proj.weight'?");
  write_peft(folder / "none", kConfig, {});
  EXPECT_EQ(error_of(c, folder / "none")->what, "the adapter changes nothing");
  EXPECT_EQ(values_of(*c.weights, "blk.0.attn_q.weight"), values_of(*llama().weights, "blk.0.attn_q.weight")) << "nothing has changed";
}

TEST(Adapters, KindsThatAreNotSupportedAreNamed) {
  const files::TemporaryFolder folder;
  Checkpoint c = llama();
  for (const auto& [config, word] : {std::pair{R"({"peft_type": "IA3"})", "IA3"},
                                     {R"({"lora_alpha": 6})", "adapters of the kind null"},
                                     {R"({"peft_type": "LORA", "lora_alpha": 6, "lora_bias": true})", "lora_bias"},
                                     {R"({"peft_type": "LORA", "lora_alpha": 6, "layer_replication": [[0, 2]]})", "layer_replication"},
                                     {R"({"peft_type": "LORA", "lora_alpha": 6, "init_lora_weights": "pissa"})", "pissa"},
                                     {R"({"peft_type": "LORA", "lora_alpha": 6, "alpha_pattern": {"q.*": 2}})", "regular expressions"}}) {
    write_peft(folder / "a", config, query_and_down());
    const Error error = error_of(c, folder / "a");
    EXPECT_EQ(error.code(), Code::not_supported) << config;
    EXPECT_NE(error->what.find(word), std::string::npos) << error->what;
  }
}

TEST(Adapters, DamagedFilesAreErrors) {
  const files::TemporaryFolder folder;
  Checkpoint c = llama();
  EXPECT_EQ(error_of(c, folder / "nothing").code(), Code::file_missing);
  for (const char* config : {"", "[]", "{", R"({"peft_type": "LORA"})", R"({"peft_type": "LORA", "lora_alpha": "6"})",
                             R"({"peft_type": "LORA", "lora_alpha": 6, "alpha_pattern": [1]})",
                             R"({"peft_type": "LORA", "lora_alpha": 6, "alpha_pattern": {"q_proj": "1"}})"}) {
    write_peft(folder / "a", config, query_and_down());
    EXPECT_EQ(error_of(c, folder / "a").code(), Code::bad_file) << config;
  }
  std::filesystem::remove(folder / "a" / "adapter_config.json");
  EXPECT_EQ(error_of(c, folder / "a").code(), Code::file_missing);
  write_peft(folder / "a", kConfig, query_and_down());
  write_bytes(folder / "a" / "adapter_model.safetensors", "short");
  EXPECT_EQ(error_of(c, folder / "a").code(), Code::bad_file);
  const auto gguf = [&](const char* type, const char* architecture, const char* kind) {
    write_gguf(folder / "a.gguf", {{"general.type", type}, {"general.architecture", architecture}, {"adapter.type", kind}},
               {{"blk.1.attn_k.weight.lora_a", random_tensor({3, 24})}});
    return error_of(c, folder / "a.gguf");
  };
  EXPECT_EQ(gguf("model", "llama", "lora")->what, "the file is no adapter");
  EXPECT_EQ(gguf("adapter", "qwen2", "lora")->what, "the adapter is of another architecture than the checkpoint");
  EXPECT_EQ(gguf("adapter", "llama", "control_vector").code(), Code::not_supported);
  EXPECT_EQ(gguf("adapter", "llama", "lora")->found, "1 without the other matrix: blk.1.attn_k.weight.lora_a");
}

}  // namespace
}  // namespace tenon::nn
