// SPDX-License-Identifier: Apache-2.0
// Gemma (https://arxiv.org/abs/2403.08295).
#include <cmath>

#include "nn/families/family.h"

namespace tenon::nn {
namespace {

constexpr std::string_view kGemmaTypes[] = {"gemma"};

}  // namespace

FAMILY(gemma){
    .name = "gemma",
    .model_types = kGemmaTypes,
    .norm_offset = 1,
    .activation = Activation::gelu_tanh,
    .configure = [](const Hyperparameters& model, DecoderConfig& config) -> Result<void> {
      config.rotation = Rotation::half_split;
      config.embedding_scale = std::sqrt(static_cast<double>(config.width));
      return add_windows(model, 1, config);
    },
};

}  // namespace tenon::nn
