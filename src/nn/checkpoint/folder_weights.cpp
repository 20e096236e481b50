// SPDX-License-Identifier: Apache-2.0
#include "nn/checkpoint/folder_weights.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

namespace tenon::nn {
namespace {

/// Names of weights that most decoders of Hugging Face's transformers share.
constexpr WeightName kDecoderWeights[] = {
    {"model.embed_tokens", "token_embd"},
    {"model.norm", "output_norm"},
    {"lm_head", "output"},
    {"model.layers.*.input_layernorm", "blk.*.attn_norm"},
    {"model.layers.*.post_attention_layernorm", "blk.*.ffn_norm"},
    {"model.layers.*.self_attn.q_proj", "blk.*.attn_q"},
    {"model.layers.*.self_attn.k_proj", "blk.*.attn_k"},
    {"model.layers.*.self_attn.v_proj", "blk.*.attn_v"},
    {"model.layers.*.self_attn.o_proj", "blk.*.attn_output"},
    {"model.layers.*.self_attn.q_norm", "blk.*.attn_q_norm"},
    {"model.layers.*.self_attn.k_norm", "blk.*.attn_k_norm"},
    {"model.layers.*.mlp.gate_proj", "blk.*.ffn_gate"},
    {"model.layers.*.mlp.up_proj", "blk.*.ffn_up"},
    {"model.layers.*.mlp.down_proj", "blk.*.ffn_down"},
};

/// The number that matches * in `pattern`; "" where the pattern has no *; nullopt where `name` does not match it.
std::optional<std::string_view> layer_number(std::string_view pattern, std::string_view name) {
  const size_t star = pattern.find('*');
  if (star == pattern.npos) return name == pattern ? std::optional<std::string_view>("") : std::nullopt;
  const std::string_view before = pattern.substr(0, star), after = pattern.substr(star + 1);
  if (name.size() <= before.size() + after.size() || !name.starts_with(before) || !name.ends_with(after)) return std::nullopt;
  const std::string_view number = name.substr(before.size(), name.size() - before.size() - after.size());
  const bool is_number = std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? std::optional(number) : std::nullopt;
}

/// Translates a name from one format (field `from` of WeightName) to the other (`to`); ".weight" or ".bias" stays. Unknown names stay.
std::string translated_name(std::string_view name, const Family& family, std::string_view WeightName::* from,
                            std::string_view WeightName::* to) {
  const size_t point = name.rfind('.');
  const std::string_view stem = name.substr(0, point), end = point == name.npos ? "" : name.substr(point);
  for (const std::span<const WeightName> names : {family.weights, std::span<const WeightName>(kDecoderWeights)})
    for (const WeightName& pair : names)
      if (const auto number = layer_number(pair.*from, stem)) {
        std::string out(pair.*to);
        if (const size_t star = out.find('*'); star != out.npos) out.replace(star, 1, *number);
        return out + std::string(end);
      }
  return std::string(name);
}

/// `tensor` + offset, f32. Errors: out_of_memory.
Result<Tensor> with_offset(const Tensor& tensor, float offset) {
  Tensor out = TRY(ir::materialise(*ir::cast(ir::constant_of(tensor), DType::f32)));
  std::vector<float> values(out.as<float>().begin(), out.as<float>().end());
  for (float& v : values) v += offset;
  return Tensor::of_f32(out.shape(), values);
}

}  // namespace

std::string gguf_name(std::string_view folder_name, const Family& family) {
  return translated_name(folder_name, family, &WeightName::folder, &WeightName::gguf);
}

std::string folder_name(std::string_view gguf_name, const Family& family) {
  return translated_name(gguf_name, family, &WeightName::gguf, &WeightName::folder);
}

Result<ir::ConstantRef> gguf_weight(const std::string& name, const Tensor& tensor, const Family& family, const Hyperparameters& model) {
  const bool has_offset = family.norm_offset != 0 && name.ends_with("norm.weight");
  ir::ConstantRef weight = ir::constant_of(has_offset ? TRY(with_offset(tensor, family.norm_offset)) : tensor);
  if (family.stores_inputs_first && name.starts_with("blk.") && weight->shape.size() == 2) weight = ir::permute(std::move(weight), {1, 0});
  return family.to_gguf_layout ? TRY(family.to_gguf_layout(name, std::move(weight), model)) : weight;
}

}  // namespace tenon::nn
