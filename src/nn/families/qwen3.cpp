// SPDX-License-Identifier: Apache-2.0
// Qwen3 (https://arxiv.org/abs/2505.09388): Qwen2 without biases, with norms of queries and keys.
#include "nn/families/family.h"

namespace tenon::nn {
namespace {

constexpr std::string_view kQwen3Types[] = {"qwen3"};

}  // namespace

FAMILY(qwen3){
    .name = "qwen3",
    .model_types = kQwen3Types,
    .configure = [](const Hyperparameters& model, DecoderConfig& config) -> Result<void> {
      config.rotation = Rotation::half_split;
      return add_windows(model, 1, config);
    },
};

}  // namespace tenon::nn
