// SPDX-License-Identifier: Apache-2.0
// Falcon (https://arxiv.org/abs/2311.16867): attention and feed-forward read one layer norm, or one each; few heads of keys.
#include "nn/families/family.h"

namespace tenon::nn {
namespace {

constexpr std::string_view kFalconTypes[] = {"falcon"};
constexpr WeightName kFalconWeights[] = {
    {"transformer.word_embeddings", "token_embd"},
    {"transformer.ln_f", "output_norm"},
    {"transformer.h.*.input_layernorm", "blk.*.attn_norm"},
    {"transformer.h.*.post_attention_layernorm", "blk.*.ffn_norm"},
    {"transformer.h.*.ln_mlp", "blk.*.attn_norm"},
    {"transformer.h.*.ln_attn", "blk.*.attn_norm_2"},
    {"transformer.h.*.self_attention.query_key_value", "blk.*.attn_qkv"},
    {"transformer.h.*.self_attention.dense", "blk.*.attn_output"},
    {"transformer.h.*.mlp.dense_h_to_4h", "blk.*.ffn_up"},
    {"transformer.h.*.mlp.dense_4h_to_h", "blk.*.ffn_down"},
};

/// Without `new_decoder_architecture` num_kv_heads of config.json has no meaning: there is one head of keys, or one a head of queries.
Result<int64_t> key_heads(const Hyperparameters& model) {
  const int64_t heads = TRY(model.size("attention.head_count"));
  const bool is_new = TRY(model.flag("new_decoder_architecture", true));  // GGUF has none of these flags, and the right number
  if (is_new) return model.size("attention.head_count_kv", heads);
  return TRY(model.flag("multi_query", true)) ? 1 : heads;
}

}  // namespace

FAMILY(falcon){
    .name = "falcon",
    .model_types = kFalconTypes,
    .weights = kFalconWeights,
    .to_gguf_layout = [](const std::string& name, ir::ConstantRef weight, const Hyperparameters& model) -> Result<ir::ConstantRef> {
      if (name.find(".attn_qkv.") == name.npos) return weight;
      const int64_t groups = TRY(key_heads(model));
      return ungrouped_rows(std::move(weight), groups, TRY(model.size("attention.head_count")) / groups, name);
    },
    .activation = Activation::gelu,
    .default_inner_factor = 4,
    .configure = [](const Hyperparameters& model, DecoderConfig& config) -> Result<void> {
      if (TRY(model.flag("alibi", false)))
        return fail(Code::not_supported, "hyperparameter 'alibi'", "not supported yet: Falcon with linear bias of scores (ALiBi)");
      config.key_heads = TRY(key_heads(model));
      config.rotation = Rotation::half_split;
      config.normalization = Normalization::layer;
      config.joint_residual = TRY(model.flag("use_parallel_residual", true)) || TRY(model.flag("new_decoder_architecture", false));
      config.gated = false;
      return {};
    },
};

}  // namespace tenon::nn
