// SPDX-License-Identifier: Apache-2.0
// Qwen2 and 2.5 (https://arxiv.org/abs/2407.10671): LLaMA with biases of q, k and v.
#include "nn/families/family.h"

namespace tenon::nn {
namespace {

constexpr std::string_view kQwen2Types[] = {"qwen2"};

}  // namespace

FAMILY(qwen2){
    .name = "qwen2",
    .model_types = kQwen2Types,
    .configure = [](const Hyperparameters& model, DecoderConfig& config) -> Result<void> {
      config.rotation = Rotation::half_split;
      return add_windows(model, 1, config);
    },
};

}  // namespace tenon::nn
