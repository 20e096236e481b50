// SPDX-License-Identifier: Apache-2.0
// LLaMA (https://arxiv.org/abs/2302.13971) and those that kept its layers: Mistral, SmolLM. GGUF stores the rows of q and k permuted, so
// that neighbors are rotated.
#include "nn/families/family.h"

namespace tenon::nn {

FAMILY(llama){
    .name = "llama",
    .configure = [](const Hyperparameters& model, DecoderConfig& config) -> Result<void> {
      config.epsilon = TRY(model.number("attention.layer_norm_rms_epsilon", 1e-5));
      config.rotation = Rotation::neighbors;
      if (model.has("expert_count"))
        return fail(Code::not_supported, "hyperparameter 'expert_count'", "not supported yet: mixtures of experts");
      return {};
    },
};

}  // namespace tenon::nn
