// SPDX-License-Identifier: Apache-2.0
// BLOOM (https://arxiv.org/abs/2211.05100): positions by linear bias of scores, a norm of the embedding.
#include "nn/families/family.h"

namespace tenon::nn {
namespace {

constexpr std::string_view kBloomTypes[] = {"bloom"};
constexpr WeightName kBloomWeights[] = {
    {"transformer.word_embeddings", "token_embd"},
    {"transformer.word_embeddings_layernorm", "token_embd_norm"},
    {"transformer.ln_f", "output_norm"},
    {"transformer.h.*.input_layernorm", "blk.*.attn_norm"},
    {"transformer.h.*.post_attention_layernorm", "blk.*.ffn_norm"},
    {"transformer.h.*.self_attention.query_key_value", "blk.*.attn_qkv"},
    {"transformer.h.*.self_attention.dense", "blk.*.attn_output"},
    {"transformer.h.*.mlp.dense_h_to_4h", "blk.*.ffn_up"},
    {"transformer.h.*.mlp.dense_4h_to_h", "blk.*.ffn_down"},
};

}  // namespace

FAMILY(bloom){
    .name = "bloom",
    .model_types = kBloomTypes,
    .weights = kBloomWeights,
    .to_gguf_layout = [](const std::string& name, ir::ConstantRef weight, const Hyperparameters& model) -> Result<ir::ConstantRef> {
      if (name.find(".attn_qkv.") == name.npos) return weight;
      return ungrouped_rows(std::move(weight), TRY(model.size("attention.head_count")), 1, name);
    },
    .activation = Activation::gelu_tanh,
    .default_inner_factor = 4,
    .context = 2048,
    .configure = [](const Hyperparameters&, DecoderConfig& config) -> Result<void> {
      config.normalization = Normalization::layer;
      config.linear_bias = true;
      config.gated = false;
      return {};
    },
};

}  // namespace tenon::nn
