// SPDX-License-Identifier: Apache-2.0
// Phi-1.5 and Phi-2 (https://arxiv.org/abs/2309.05463): attention and feed-forward read one layer norm, part of a head is rotated.
#include "nn/families/family.h"

namespace tenon::nn {
namespace {

constexpr std::string_view kPhi2Types[] = {"phi"};
constexpr WeightName kPhi2Weights[] = {
    {"model.final_layernorm", "output_norm"},
    {"model.layers.*.self_attn.dense", "blk.*.attn_output"},
    {"model.layers.*.self_attn.q_layernorm", "blk.*.attn_q_norm"},
    {"model.layers.*.self_attn.k_layernorm", "blk.*.attn_k_norm"},
    {"model.layers.*.mlp.fc1", "blk.*.ffn_up"},
    {"model.layers.*.mlp.fc2", "blk.*.ffn_down"},
};

}  // namespace

FAMILY(phi2){
    .name = "phi2",
    .model_types = kPhi2Types,
    .weights = kPhi2Weights,
    .activation = Activation::gelu_tanh,
    .configure = [](const Hyperparameters&, DecoderConfig& config) -> Result<void> {
      config.rotation = Rotation::half_split;
      config.normalization = Normalization::layer;
      config.joint_residual = true;
      config.gated = false;
      return {};
    },
};

}  // namespace tenon::nn
