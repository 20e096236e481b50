// SPDX-License-Identifier: Apache-2.0
// LLaMA (https://arxiv.org/abs/2302.13971) and models with the same layers: Mistral, SmolLM. GGUF stores the rows of q and k
// permuted, so that the rotation is interleaved; in Hugging Face folders it is half-split.
#include "nn/families/family.h"

namespace tenon::nn {
namespace {

constexpr std::string_view kLlamaTypes[] = {"llama", "mistral"};

}  // namespace

FAMILY(llama){
    .name = "llama",
    .model_types = kLlamaTypes,
    .pairs_rows_in_gguf = true,
    .configure = [](const Hyperparameters& model, DecoderConfig& config) -> Result<void> {
      config.rotation = TRY(stored_rotation(model));
      if (model.has("expert_count"))
        return fail(Code::not_supported, "hyperparameter 'expert_count'", "not supported yet: mixtures of experts");
      return add_windows(model, 1, config);
    },
};

}  // namespace tenon::nn
