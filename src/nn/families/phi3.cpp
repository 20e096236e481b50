// SPDX-License-Identifier: Apache-2.0
// Phi-3 (https://arxiv.org/abs/2404.14219): LLaMA with joined projections.
#include "nn/families/family.h"

namespace tenon::nn {
namespace {

constexpr std::string_view kPhi3Types[] = {"phi3"};
constexpr WeightName kPhi3Weights[] = {
    {"model.layers.*.self_attn.qkv_proj", "blk.*.attn_qkv"},
    {"model.layers.*.mlp.gate_up_proj", "blk.*.ffn_up"},
};

}  // namespace

FAMILY(phi3){
    .name = "phi3",
    .model_types = kPhi3Types,
    .weights = kPhi3Weights,
    .configure = [](const Hyperparameters& model, DecoderConfig& config) -> Result<void> {
      config.rotation = Rotation::half_split;
      return add_windows(model, 1, config);
    },
};

}  // namespace tenon::nn
