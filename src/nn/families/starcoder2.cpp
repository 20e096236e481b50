// SPDX-License-Identifier: Apache-2.0
// StarCoder2 (https://arxiv.org/abs/2402.19173): layer norms, biases, no gate.
#include "nn/families/family.h"

namespace tenon::nn {
namespace {

constexpr std::string_view kStarcoder2Types[] = {"starcoder2"};
constexpr WeightName kStarcoder2Weights[] = {
    {"model.layers.*.mlp.c_fc", "blk.*.ffn_up"},
    {"model.layers.*.mlp.c_proj", "blk.*.ffn_down"},
};

}  // namespace

FAMILY(starcoder2){
    .name = "starcoder2",
    .model_types = kStarcoder2Types,
    .weights = kStarcoder2Weights,
    .activation = Activation::gelu_tanh,
    .configure = [](const Hyperparameters& model, DecoderConfig& config) -> Result<void> {
      config.rotation = Rotation::half_split;
      config.normalization = Normalization::layer;
      config.gated = false;
      return add_windows(model, 1, config);
    },
};

}  // namespace tenon::nn
