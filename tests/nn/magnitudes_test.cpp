// SPDX-License-Identifier: Apache-2.0
// Adapters with magnitudes (DoRA), against m * V / |V| in plain fp64 loops.
#include <gtest/gtest.h>

#include <cmath>

#include "../files/temporary_folder.h"
#include "adapter_checks.h"

namespace tenon::nn {
namespace {

using namespace testing;

constexpr const char* kDora = R"({"peft_type": "LORA", "r": 3, "lora_alpha": 6, "use_dora": true})";

/// Expects the matrix after DoRA: m * V / |V| with V = weight + change, |V| the norms of rows, or of columns.
void expect_magnitudes(const Checkpoint& of, const Checkpoint& before, const std::string& name, const std::vector<float>& change,
                       const Tensor& m, bool of_columns = false) {
  const std::vector<float> got = values_of(*of.weights, name), base = values_of(*before.weights, name);
  ASSERT_EQ(got.size(), change.size()) << name;
  const auto width = static_cast<size_t>((*of.weights->shape_of(name))[1]);
  std::vector<double> squares(static_cast<size_t>(m.count()));
  const auto group = [&](size_t i) { return of_columns ? i % width : i / width; };
  const auto sum = [&](size_t i) { return static_cast<double>(base[i]) + static_cast<double>(change[i]); };
  for (size_t i = 0; i < got.size(); ++i) squares.at(group(i)) += sum(i) * sum(i);
  for (size_t i = 0; i < got.size(); ++i) {
    const double scale = static_cast<double>(m.as<float>()[group(i)]) / std::sqrt(squares[group(i)]);
    ASSERT_NEAR(got[i], scale * sum(i), 1e-6) << name << " " << i;
  }
}

TEST(Magnitudes, AreTheLengthsOfRows) {
  const files::TemporaryFolder folder;
  const std::string key = "base_model.model.model.layers.1.self_attn.k_proj";
  const Tensor a = random_tensor({3, 24}), b = random_tensor({12, 3}), m = random_tensor({12});
  for (const char* end : {"", ".weight", ".default.weight"}) {
    write_peft(folder / "a", kDora, {{key + ".lora_A.weight", a}, {key + ".lora_B.weight", b}, {key + ".lora_magnitude_vector" + end, m}});
    for (const bool is_folder : {true, false}) {
      Checkpoint c = llama(is_folder);
      const auto merged = merge(c, folder / "a", 0.25);
      ASSERT_TRUE(merged) << merged.error().text();
      const Tensor magnitudes = is_folder ? m : neighbors(m, 2);  // rows of keys lie in another order
      expect_magnitudes(c, llama(is_folder), "blk.1.attn_k.weight", product_of(is_folder ? b : neighbors(b, 2), a, 0.5), magnitudes);
      Checkpoint again = llama(is_folder);  // the second one changes what the first has made
      ASSERT_TRUE(merge_adapters(std::vector{AdapterFile{folder / "a", 0.25}, AdapterFile{folder / "a", -1}}, again));
      expect_magnitudes(again, c, "blk.1.attn_k.weight", product_of(is_folder ? b : neighbors(b, 2), a, -2), magnitudes);
    }
  }
}

TEST(Magnitudes, OfEmbeddingsAreTheLengthsOfColumns) {
  const files::TemporaryFolder folder;
  const std::string table = "base_model.model.model.embed_tokens", head = "base_model.model.lm_head";
  const Tensor a = random_tensor({3, kVocabulary}), b = random_tensor({24, 3}), m = random_tensor({24}),
               of_head = random_tensor({kVocabulary});
  const Tensor up = random_tensor({kVocabulary, 3}), down = random_tensor({3, 24});
  write_peft(folder / "a", kDora,
             {{table + ".lora_embedding_A", a},
              {table + ".lora_embedding_B", b},
              {table + ".lora_magnitude_vector", m},
              {head + ".lora_A.weight", down},
              {head + ".lora_B.weight", up},
              {head + ".lora_magnitude_vector", of_head}});
  Checkpoint c = llama();
  const auto merged = merge(c, folder / "a");
  ASSERT_TRUE(merged) << merged.error().text();
  const std::vector<float> product = product_of(b, a, 2);  // [width, vocabulary]
  std::vector<float> change(product.size());
  for (size_t i = 0; i < product.size(); ++i) change[i % kVocabulary * 24 + i / kVocabulary] = product[i];
  expect_magnitudes(c, llama(), "token_embd.weight", change, m, true);
  Checkpoint tied = llama();  // the output's table was the embedding
  write_peft(folder / "same", kConfig,
             {{head + ".lora_A.weight", Tensor::of_f32({3, 24}, std::vector<float>(72))}, {head + ".lora_B.weight", up}});
  ASSERT_TRUE(merge(tied, folder / "same"));
  expect_magnitudes(c, tied, "output.weight", product_of(up, down, 2), of_head);
}

TEST(Magnitudes, OfRowsOfZerosChangeNothing) {
  const files::TemporaryFolder folder;
  NamedTensors t = query_and_down();
  for (auto& [name, tensor] : t) tensor = Tensor::of_f32(tensor.shape(), std::vector<float>(static_cast<size_t>(tensor.count())));
  t.emplace(kQuery + ".lora_magnitude_vector", random_tensor({24}));
  t.emplace(kDown + ".lora_magnitude_vector", random_tensor({24}));
  write_peft(folder / "a", kDora, t);
  RandomWeights w = weights_of(small_config());
  w.set("blk.0.attn_q.weight", Tensor::of_f32({24, 24}, std::vector<float>(576)));
  Checkpoint c = checkpoint_of("llama", std::move(w));
  ASSERT_TRUE(merge(c, folder / "a"));
  EXPECT_EQ(values_of(*c.weights, "blk.0.attn_q.weight"), std::vector<float>(576));
}

TEST(Magnitudes, FollowTheLayoutOfTheFamily) {
  const files::TemporaryFolder folder;
  const std::string name = "base_model.model.gpt_neox.layers.0.attention.query_key_value";
  const Tensor a = random_tensor({3, 24}), b = random_tensor({72, 3}), m = random_tensor({72});
  write_peft(folder / "a", kDora, {{name + ".lora_A.weight", a}, {name + ".lora_B.weight", b}, {name + ".lora_magnitude_vector", m}});
  RandomWeights w;
  w.add("blk.0.attn_qkv.weight", {72, 24});
  const std::vector<float> product = product_of(b, a, 2);
  std::vector<float> change(product.size()), lengths(72);
  for (size_t row = 0; row < 72; ++row) {  // a head of q, of k and of v after the other, in 4 groups of 3 * 6 rows
    const size_t to = row / 6 % 3 * 24 + row / 18 * 6 + row % 6;
    lengths[to] = m.as<float>()[row];
    for (size_t k = 0; k < 24; ++k) change[to * 24 + k] = product[row * 24 + k];
  }
  Checkpoint c = checkpoint_of("gptneox", w);
  ASSERT_TRUE(merge(c, folder / "a"));
  expect_magnitudes(c, checkpoint_of("gptneox", w), "blk.0.attn_qkv.weight", change, Tensor::of_f32({72}, lengths));
}

TEST(Magnitudes, WithoutMatricesOrConfigurationAreNamed) {
  const files::TemporaryFolder folder;
  Checkpoint c = llama();
  const auto found_with = [&](const char* config, const std::string& module, const char* part, Sizes shape) {
    NamedTensors one = query_and_down();
    if (*part) one.emplace(module + part, random_tensor(std::move(shape)));
    write_peft(folder / "dora", config, one);
    return error_of(c, folder / "dora")->found;
  };
  const std::string some = " with only some of use_dora, lora_A, lora_B and lora_magnitude_vector: ";
  EXPECT_TRUE(found_with(kConfig, kQuery, ".lora_magnitude_vector", {24}).starts_with("1" + some + kQuery));
  EXPECT_TRUE(found_with(kDora, "", "", {}).starts_with("2" + some));
  EXPECT_TRUE(found_with(kDora, "model.norm", ".lora_magnitude_vector", {24}).starts_with("3" + some));
  EXPECT_TRUE(found_with(kDora, kQuery, ".lora_magnitude_vector", {23})
                  .starts_with("1 of other sizes: model.layers.0.self_attn.q_proj.weight gives [23] for [24]; 1" + some));
}

}  // namespace
}  // namespace tenon::nn
