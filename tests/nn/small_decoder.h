// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>

#include "base/random.h"
#include "nn/decoder/config.h"
#include "nn/tensor_weights.h"

namespace tenon::nn::testing {

/// Random weights.
class RandomWeights : public TensorWeights {
 public:
  /// Drawn around `middle`, with a deviation of about 1 / sqrt(last size).
  void add(const std::string& name, Sizes shape, float middle = 0) {
    size_t count = 1;
    for (int64_t size : shape) count *= static_cast<size_t>(size);
    const float scale = 1.7F / std::sqrt(static_cast<float>(shape.back()));
    std::vector<float> values(count);
    for (float& v : values) v = middle + scale * static_cast<float>(2 * uniform_of(philox(17, {drawn_++, 0, 0, 0})) - 1);
    set(name, Tensor::of_f32(std::move(shape), values));
  }

 private:
  uint32_t drawn_ = 0;
};

inline constexpr int64_t kVocabulary = 23;
inline DecoderConfig small_config() {
  DecoderConfig c{.layers = 2, .width = 24, .heads = 4, .key_heads = 2, .head_size = 6, .inner_width = 40, .context = 16};
  c.rotation = Rotation::interleaved;
  c.rotated_size = 6;
  return c;
}

/// Of matrices that are whole blocks of 32 elements.
inline DecoderConfig config_of_blocks(int64_t context) {
  DecoderConfig c = small_config();
  c.width = 64;
  c.head_size = c.rotated_size = 16;
  c.inner_width = 160;
  c.context = context;
  return c;
}

/// Those that a decoder of that config must have.
inline RandomWeights weights_of(const DecoderConfig& c) {
  RandomWeights w;
  w.add("token_embd.weight", {kVocabulary, c.width});
  w.add("output_norm.weight", {c.width}, 1);
  const int64_t queries = c.heads * c.head_size, keys = c.key_heads * c.head_size;
  for (int64_t l = 0; l < c.layers; ++l) {
    const std::string layer = "blk." + std::to_string(l) + ".";
    w.add(layer + "attn_norm.weight", {c.width}, 1);
    w.add(layer + "attn_q.weight", {queries, c.width});
    w.add(layer + "attn_k.weight", {keys, c.width});
    w.add(layer + "attn_v.weight", {keys, c.width});
    w.add(layer + "attn_output.weight", {c.width, queries});
    w.add(layer + "ffn_norm.weight", {c.width}, 1);
    if (c.gated) w.add(layer + "ffn_gate.weight", {c.inner_width, c.width});
    w.add(layer + "ffn_up.weight", {c.inner_width, c.width});
    w.add(layer + "ffn_down.weight", {c.width, c.inner_width});
  }
  return w;
}

}  // namespace tenon::nn::testing
