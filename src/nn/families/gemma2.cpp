// SPDX-License-Identifier: Apache-2.0
// Gemma 2 (https://arxiv.org/abs/2408.00118): norms before and after, capped scores, a window in every other layer.
#include <cmath>

#include "nn/families/family.h"

namespace tenon::nn {
namespace {

constexpr std::string_view kGemma2Types[] = {"gemma2"};
constexpr WeightName kGemma2Weights[] = {
    {"model.layers.*.post_attention_layernorm", "blk.*.post_attention_norm"},
    {"model.layers.*.pre_feedforward_layernorm", "blk.*.ffn_norm"},
    {"model.layers.*.post_feedforward_layernorm", "blk.*.post_ffw_norm"},
};

}  // namespace

FAMILY(gemma2){
    .name = "gemma2",
    .model_types = kGemma2Types,
    .weights = kGemma2Weights,
    .norm_offset = 1,
    .activation = Activation::gelu_tanh,
    .configure = [](const Hyperparameters& model, DecoderConfig& config) -> Result<void> {
      config.rotation = Rotation::half_split;
      config.norms = NormPlacement::before_and_after;
      config.embedding_scale = std::sqrt(static_cast<double>(config.width));
      // GGUF has no key for it: the model of 27 billion parameters, of 46 layers, alone scales by the width of a head's share.
      const double share = config.layers == 46 ? 1 / std::sqrt(static_cast<double>(config.width / config.heads)) : 0;
      config.score_scale = TRY(model.number("attention.scale", share));
      config.score_softcap = TRY(model.number("attn_logit_softcapping", 50));
      config.logit_softcap = TRY(model.number("final_logit_softcapping", 30));
      return add_windows(model, 2, config);
    },
};

}  // namespace tenon::nn
