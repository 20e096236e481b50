// SPDX-License-Identifier: Apache-2.0
// GPT-NeoX (https://arxiv.org/abs/2204.06745), Pythia: attention and feed-forward read the same input, each through a norm of its own.
#include "nn/families/family.h"

namespace tenon::nn {
namespace {

constexpr std::string_view kGptneoxTypes[] = {"gpt_neox"};
constexpr WeightName kGptneoxWeights[] = {
    {"gpt_neox.embed_in", "token_embd"},
    {"gpt_neox.final_layer_norm", "output_norm"},
    {"embed_out", "output"},
    {"gpt_neox.layers.*.input_layernorm", "blk.*.attn_norm"},
    {"gpt_neox.layers.*.post_attention_layernorm", "blk.*.ffn_norm"},
    {"gpt_neox.layers.*.attention.query_key_value", "blk.*.attn_qkv"},
    {"gpt_neox.layers.*.attention.dense", "blk.*.attn_output"},
    {"gpt_neox.layers.*.mlp.dense_h_to_4h", "blk.*.ffn_up"},
    {"gpt_neox.layers.*.mlp.dense_4h_to_h", "blk.*.ffn_down"},
};

}  // namespace

FAMILY(gptneox){
    .name = "gptneox",
    .model_types = kGptneoxTypes,
    .weights = kGptneoxWeights,
    .to_gguf_layout = [](const std::string& name, ir::ConstantRef weight, const Hyperparameters& model) -> Result<ir::ConstantRef> {
      if (name.find(".attn_qkv.") == name.npos) return weight;
      return ungrouped_rows(std::move(weight), TRY(model.size("attention.head_count")), 1, name);
    },
    .activation = Activation::gelu,
    .configure = [](const Hyperparameters& model, DecoderConfig& config) -> Result<void> {
      config.rotation = Rotation::half_split;
      config.normalization = Normalization::layer;
      config.joint_residual = TRY(model.flag("use_parallel_residual", true));
      config.gated = false;
      return {};
    },
};

}  // namespace tenon::nn
