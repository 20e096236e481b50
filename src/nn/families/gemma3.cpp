// SPDX-License-Identifier: Apache-2.0
// Gemma 3 (https://arxiv.org/abs/2503.19786): norms of queries and keys, windows in five of six layers, which rotate by a base of their
// own.
#include <cmath>

#include "nn/families/family.h"

namespace tenon::nn {
namespace {

constexpr std::string_view kGemma3Types[] = {"gemma3_text"};
constexpr WeightName kGemma3Weights[] = {
    {"model.layers.*.post_attention_layernorm", "blk.*.post_attention_norm"},
    {"model.layers.*.pre_feedforward_layernorm", "blk.*.ffn_norm"},
    {"model.layers.*.post_feedforward_layernorm", "blk.*.post_ffw_norm"},
};
constexpr int64_t kPeriod = 6;  // every sixth layer reads all keys

/// The default of `attention.window_pattern`: a letter for each layer, s with a window, f without.
std::string usual_pattern(int64_t layers) {
  std::string out;
  for (int64_t layer = 0; layer < layers; ++layer) out += layer % kPeriod == kPeriod - 1 ? 'f' : 's';
  return out;
}

}  // namespace

FAMILY(gemma3){
    .name = "gemma3",
    .model_types = kGemma3Types,
    .weights = kGemma3Weights,
    .norm_offset = 1,
    .activation = Activation::gelu_tanh,
    .configure = [](const Hyperparameters& model, DecoderConfig& config) -> Result<void> {
      config.rotation = Rotation::half_split;
      config.norms = NormPlacement::before_and_after;
      config.embedding_scale = std::sqrt(static_cast<double>(config.width));
      // GGUF has no key for it: the model of 27 billion parameters, of 62 layers, alone scales by the width of a head's share.
      const double share = config.layers == 62 ? 1 / std::sqrt(static_cast<double>(config.width / config.heads)) : 0;
      config.score_scale = TRY(model.number("attention.scale", share));
      config.score_softcap = TRY(model.number("attn_logit_softcapping", 0));
      config.logit_softcap = TRY(model.number("final_logit_softcapping", 0));
      config.window_rotation_base = TRY(model.number("rope.freq_base_swa", 10000));
      Hyperparameters with_pattern = model;
      if (!model.has("attention.window_pattern")) with_pattern.set("attention.window_pattern", usual_pattern(config.layers));
      return add_windows(with_pattern, 1, config);
    },
};

}  // namespace tenon::nn
