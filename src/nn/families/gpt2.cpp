// SPDX-License-Identifier: Apache-2.0
// GPT-2 (https://github.com/openai/gpt-2): learned positions, layer norms, biases, no gate. Its folders store [inputs, outputs].
#include "nn/families/family.h"

namespace tenon::nn {
namespace {

constexpr std::string_view kGpt2Types[] = {"gpt2"};
constexpr WeightName kGpt2Weights[] = {
    {"transformer.wte", "token_embd"},
    {"transformer.wpe", "position_embd"},
    {"transformer.ln_f", "output_norm"},
    {"transformer.h.*.ln_1", "blk.*.attn_norm"},
    {"transformer.h.*.ln_2", "blk.*.ffn_norm"},
    {"transformer.h.*.attn.c_attn", "blk.*.attn_qkv"},
    {"transformer.h.*.attn.c_proj", "blk.*.attn_output"},
    {"transformer.h.*.mlp.c_fc", "blk.*.ffn_up"},
    {"transformer.h.*.mlp.c_proj", "blk.*.ffn_down"},
    {"wte", "token_embd"},
    {"wpe", "position_embd"},
    {"ln_f", "output_norm"},
    {"h.*.ln_1", "blk.*.attn_norm"},
    {"h.*.ln_2", "blk.*.ffn_norm"},
    {"h.*.attn.c_attn", "blk.*.attn_qkv"},
    {"h.*.attn.c_proj", "blk.*.attn_output"},
    {"h.*.mlp.c_fc", "blk.*.ffn_up"},
    {"h.*.mlp.c_proj", "blk.*.ffn_down"},
};

}  // namespace

FAMILY(gpt2){
    .name = "gpt2",
    .model_types = kGpt2Types,
    .weights = kGpt2Weights,
    .stores_inputs_first = true,
    .activation = Activation::gelu_tanh,
    .default_inner_factor = 4,
    .configure = [](const Hyperparameters&, DecoderConfig& config) -> Result<void> {
      config.normalization = Normalization::layer;
      config.gated = false;
      return {};
    },
};

}  // namespace tenon::nn
