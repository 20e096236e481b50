// SPDX-License-Identifier: Apache-2.0
// OLMo 2 (https://arxiv.org/abs/2501.00656): norms after attention and feed-forward, and of all queries and keys together.
#include "nn/families/family.h"

namespace tenon::nn {
namespace {

constexpr std::string_view kOlmo2Types[] = {"olmo2"};
constexpr WeightName kOlmo2Weights[] = {
    {"model.layers.*.post_attention_layernorm", "blk.*.post_attention_norm"},
    {"model.layers.*.post_feedforward_layernorm", "blk.*.post_ffw_norm"},
};

}  // namespace

FAMILY(olmo2){
    .name = "olmo2",
    .model_types = kOlmo2Types,
    .weights = kOlmo2Weights,
    .configure = [](const Hyperparameters& model, DecoderConfig& config) -> Result<void> {
      config.rotation = Rotation::half_split;
      config.norms = NormPlacement::after;
      return add_windows(model, 1, config);
    },
};

}  // namespace tenon::nn
