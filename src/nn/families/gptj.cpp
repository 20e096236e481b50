// SPDX-License-Identifier: Apache-2.0
// GPT-J (https://github.com/kingoflolz/mesh-transformer-jax): attention and feed-forward read one layer norm, the rotation is interleaved.
#include "nn/families/family.h"

namespace tenon::nn {
namespace {

constexpr std::string_view kGptjTypes[] = {"gptj"};
constexpr WeightName kGptjWeights[] = {
    {"transformer.wte", "token_embd"},
    {"transformer.ln_f", "output_norm"},
    {"transformer.h.*.ln_1", "blk.*.attn_norm"},
    {"transformer.h.*.attn.q_proj", "blk.*.attn_q"},
    {"transformer.h.*.attn.k_proj", "blk.*.attn_k"},
    {"transformer.h.*.attn.v_proj", "blk.*.attn_v"},
    {"transformer.h.*.attn.out_proj", "blk.*.attn_output"},
    {"transformer.h.*.mlp.fc_in", "blk.*.ffn_up"},
    {"transformer.h.*.mlp.fc_out", "blk.*.ffn_down"},
};

}  // namespace

FAMILY(gptj){
    .name = "gptj",
    .model_types = kGptjTypes,
    .weights = kGptjWeights,
    .activation = Activation::gelu_tanh,
    .default_inner_factor = 4,
    .configure = [](const Hyperparameters&, DecoderConfig& config) -> Result<void> {
      config.rotation = Rotation::interleaved;
      config.normalization = Normalization::layer;
      config.joint_residual = true;
      config.gated = false;
      return {};
    },
};

}  // namespace tenon::nn
