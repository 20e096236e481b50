// SPDX-License-Identifier: Apache-2.0
// Small checkpoints for tests of adapters, and the expected weights computed in plain loops.
#pragma once
#include <gtest/gtest.h>

#include "adapter_files.h"
#include "nn/adapters/adapter.h"
#include "small_decoder.h"

namespace tenon::nn::testing {

inline constexpr const char* kConfig = R"({"peft_type": "LORA", "r": 3, "lora_alpha": 6})";

inline Tensor random_tensor(Sizes shape) {
  static uint32_t drawn = 0;
  size_t count = 1;
  for (const int64_t size : shape) count *= static_cast<size_t>(size);
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>(uniform_of(philox(23, {drawn++, 0, 0, 0})) - 0.5);
  return Tensor::of_f32(std::move(shape), values);
}

inline std::vector<float> values_of(const Weights& weights, std::string_view name) {
  const Tensor t = *ir::materialise(*weights.constant(name));
  return {t.as<float>().begin(), t.as<float>().end()};
}

inline Hyperparameters hyperparameters(const DecoderConfig& c, bool is_folder) {
  Hyperparameters model;
  for (const auto& [key, value] : {std::pair<const char*, int64_t>{"block_count", c.layers},
                                   {"embedding_length", c.width},
                                   {"context_length", c.context},
                                   {"feed_forward_length", c.inner_width},
                                   {"attention.head_count", c.heads},
                                   {"attention.head_count_kv", c.key_heads}})
    model.set(key, value);
  if (is_folder) model.set("rope.layout", "half_split");
  return model;
}

inline Checkpoint checkpoint_of(const char* family, RandomWeights weights, bool is_folder = true) {
  return {*family_of(family), hyperparameters(small_config(), is_folder), std::make_unique<RandomWeights>(std::move(weights))};
}
inline Checkpoint llama(bool is_folder = true) { return checkpoint_of("llama", weights_of(small_config()), is_folder); }

/// left [m, r] times right [r, n], times a factor.
inline std::vector<float> product_of(const Tensor& left, const Tensor& right, double factor) {
  const auto m = static_cast<size_t>(left.shape()[0]), r = static_cast<size_t>(left.shape()[1]), n = static_cast<size_t>(right.shape()[1]);
  std::vector<float> out(m * n);
  for (size_t i = 0; i < m; ++i)
    for (size_t k = 0; k < n; ++k) {
      double sum = 0;
      for (size_t j = 0; j < r; ++j)
        sum += static_cast<double>(left.as<float>()[i * r + j]) * static_cast<double>(right.as<float>()[j * n + k]);
      out[i * n + k] = static_cast<float>(factor * sum);
    }
  return out;
}

inline void expect_changed(const Checkpoint& of, const Checkpoint& before, const std::string& name, const std::vector<float>& change) {
  const std::vector<float> got = values_of(*of.weights, name), base = values_of(*before.weights, name);
  ASSERT_EQ(got.size(), change.size()) << name;
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], base[i] + change[i], 1e-6) << name << " " << i;
}

inline Result<std::vector<std::string>> merge(Checkpoint& into, const std::filesystem::path& path, double scale = 1) {
  return merge_adapters(std::vector{AdapterFile{path, scale}}, into);
}

inline Error error_of(Checkpoint& into, const std::filesystem::path& path) {
  const auto merged = merge(into, path);
  EXPECT_FALSE(merged) << path;
  return merged ? fail(Code::internal, "", "") : merged.error();
}

inline const std::string kQuery = "base_model.model.model.layers.0.self_attn.q_proj",
                         kDown = "base_model.model.model.layers.1.mlp.down_proj";

inline NamedTensors query_and_down() {
  return {{kQuery + ".lora_A.weight", random_tensor({3, 24})},
          {kQuery + ".lora_B.weight", random_tensor({24, 3})},
          {kDown + ".lora_A.weight", random_tensor({3, 40})},
          {kDown + ".lora_B.weight", random_tensor({24, 3})}};
}

/// The rows of each head reordered from [2, n / 2] to [n / 2, 2]: from the order of Hugging Face to that of GGUF for q and k.
inline Tensor neighbors(const Tensor& of, int64_t heads) {
  const int64_t rows = of.shape()[0], columns = of.count() / rows, half = rows / heads / 2;
  std::vector<float> out(static_cast<size_t>(of.count()));
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t i = 0; i < 2 * half; ++i)
      for (int64_t k = 0; k < columns; ++k)
        out[static_cast<size_t>(((h * half + i % half) * 2 + i / half) * columns + k)] =
            of.as<float>()[static_cast<size_t>((h * 2 * half + i) * columns + k)];
  return Tensor::of_f32(of.shape(), out);
}

}  // namespace tenon::nn::testing
