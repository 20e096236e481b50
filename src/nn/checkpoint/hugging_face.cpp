// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <fstream>

#include <fmt/format.h>

#include "files/safetensors_index.h"
#include "nn/checkpoint/checkpoint.h"
#include "nn/checkpoint/translated_config.h"
#include "nn/tensor_weights.h"

namespace tenon::nn {
namespace {

using nlohmann::json;

/// What decoders of transformers call their weights.
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

/// What * stands for, where `name` has the form of `pattern`.
std::optional<std::string_view> matched(std::string_view pattern, std::string_view name) {
  const size_t star = pattern.find('*');
  if (star == pattern.npos) return name == pattern ? std::optional<std::string_view>("") : std::nullopt;
  const std::string_view before = pattern.substr(0, star), after = pattern.substr(star + 1);
  if (name.size() <= before.size() + after.size() || !name.starts_with(before) || !name.ends_with(after)) return std::nullopt;
  const std::string_view number = name.substr(before.size(), name.size() - before.size() - after.size());
  const bool is_number = std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? std::optional(number) : std::nullopt;
}

/// GGUF's name; the same where the family has none for it, which then is left over.
std::string translated(std::string_view name, const Family& family) {
  const size_t point = name.rfind('.');
  const std::string_view stem = name.substr(0, point), end = point == name.npos ? "" : name.substr(point);
  for (const std::span<const WeightName> names : {family.weights, std::span<const WeightName>(kDecoderWeights)})
    for (const WeightName& pair : names)
      if (const auto number = matched(pair.theirs, stem)) {
        std::string out(pair.ours);
        if (const size_t star = out.find('*'); star != out.npos) out.replace(star, 1, *number);
        return out + std::string(end);
      }
  return std::string(name);
}

/// `tensor` + offset, f32. Errors: out_of_memory.
Result<Tensor> moved(const Tensor& tensor, float offset) {
  Tensor out = TRY(ir::materialise(*ir::cast(ir::constant_of(tensor), DType::f32)));
  std::vector<float> values(out.as<float>().begin(), out.as<float>().end());
  for (float& v : values) v += offset;
  return Tensor::of_f32(out.shape(), values);
}

/// Buffers that follow from the config, which older versions of transformers stored with the weights.
bool is_derived(std::string_view name) {
  constexpr std::string_view kEnds[] = {".inv_freq", ".attn.bias", ".attn.masked_bias", ".attention.bias", ".attention.masked_bias"};
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return name.ends_with(end); });
}

Result<std::unique_ptr<Weights>> weights_of(const files::SafeTensorsCheckpoint& checkpoint, const Family& family,
                                            const Hyperparameters& model) {
  auto out = std::make_unique<TensorWeights>();
  for (const files::SafeTensors::Entry* e : checkpoint.entries()) {
    if (is_derived(e->name)) continue;
    std::string name = translated(e->name, family);
    const bool is_moved = family.norm_offset != 0 && name.ends_with("norm.weight");
    ir::ConstantRef weight = ir::constant_of(is_moved ? TRY(moved(e->tensor, family.norm_offset)) : e->tensor);
    if (family.to_gguf_layout) weight = TRY(family.to_gguf_layout(name, std::move(weight), model));
    out->set(std::move(name), std::move(weight));
  }
  return out;
}

Result<json> read_config(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file)
    return fail(Code::file_missing, path.string(), "the folder is no checkpoint")
        .expected("config.json, as folders of Hugging Face have it")
        .found("no such file");
  json config = json::parse(file, nullptr, false);
  if (config.is_discarded()) return fail(Code::bad_file, path.string(), "the file is no JSON");
  if (!config.is_object() || !config.contains("model_type") || !config["model_type"].is_string())
    return fail(Code::bad_input, path.string(), "the configuration names no model_type").expected("an object with model_type");
  return config;
}

}  // namespace

Result<Checkpoint> read_hugging_face(const std::filesystem::path& folder) {
  const std::string place = (folder / "config.json").string();
  const json config = TRY(read_config(folder / "config.json"));
  Checkpoint out;
  out.family = TRY(family_of_model_type(config["model_type"].get<std::string>()));
  out.model = TRY(translated_config(config, place));
  out.weights = TRY(weights_of(TRY(files::read_safetensors_folder(folder)), *out.family, out.model));
  return out;
}

}  // namespace tenon::nn
