// SPDX-License-Identifier: Apache-2.0
// Granite (https://github.com/ibm-granite/granite-3.0-language-models): LLaMA with factors of embedding, residuals, scores and logits.
#include "nn/families/family.h"

namespace tenon::nn {
namespace {

constexpr std::string_view kGraniteTypes[] = {"granite"};

}  // namespace

FAMILY(granite){
    .name = "granite",
    .model_types = kGraniteTypes,
    .pairs_rows_in_gguf = true,
    .configure = [](const Hyperparameters& model, DecoderConfig& config) -> Result<void> {
      config.rotation = TRY(stored_rotation(model));
      config.embedding_scale = TRY(model.number("embedding_scale", 1));
      config.residual_scale = TRY(model.number("residual_scale", 1));
      config.score_scale = TRY(model.number("attention.scale", 0));
      const double divisor = TRY(model.number("logit_scale", 1));
      if (divisor == 0)
        return fail(Code::bad_input, "hyperparameter 'logit_scale'", "logits are divided by it").expected("another number").found("0");
      config.logit_scale = 1 / divisor;
      return {};
    },
};

}  // namespace tenon::nn
