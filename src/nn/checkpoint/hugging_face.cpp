// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "files/safetensors_index.h"
#include "nn/checkpoint/checkpoint.h"
#include "nn/checkpoint/folder_quantization.h"
#include "nn/checkpoint/folder_weights.h"
#include "nn/checkpoint/translated_config.h"
#include "nn/tensor_weights.h"

namespace tenon::nn {
namespace {

using nlohmann::json;

/// Whether the tensor is a buffer (such as inv_freq) that the config determines; older versions of transformers stored these with weights.
bool is_derived(std::string_view name) {
  constexpr std::string_view kEnds[] = {".inv_freq", ".attn.bias", ".attn.masked_bias", ".attention.bias", ".attention.masked_bias"};
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return name.ends_with(end); });
}

struct FolderReader {
  const files::SafeTensorsCheckpoint& checkpoint;
  const Family& family;
  const Hyperparameters& model;
  const FolderQuantization& quantization;

  /// Under GGUF's name. Of the tensors of a quantized weight, its codes give the weight, and the others nothing.
  Result<void> read(const files::SafeTensors::Entry& e, TensorWeights& out) const {
    const auto stem = quantized_stem(checkpoint, e.name);
    if (!stem) {
      std::string name = gguf_name(e.name, family);
      ir::ConstantRef weight = TRY(gguf_weight(name, e.tensor, family, model));
      out.set(std::move(name), std::move(weight));
      return {};
    }
    if (quantization.method == FolderQuantization::Method::none)
      return fail(Code::bad_input, fmt::format("tensor '{}'", e.name),
                  "the tensor is of a quantized weight, and config.json does not say how")
          .expected("quantization_config in config.json, with quant_method awq or gptq")
          .found("none")
          .advice("add the content of quantize_config.json or quant_config.json, as newer versions of the quantizer write it");
    if (!e.name.ends_with(".qweight")) return {};
    std::string name = gguf_name(std::string(*stem) + ".weight", family);
    auto [weight, input_order] = TRY(quantized_weight(checkpoint, *stem, quantization));
    if (family.to_gguf_layout) weight = TRY(family.to_gguf_layout(name, std::move(weight), model));  // moves rows alone
    if (!input_order.empty()) out.set_input_order(name, std::move(input_order));
    out.set(std::move(name), std::move(weight));
    return {};
  }
};

Result<std::unique_ptr<Weights>> weights_of(const FolderReader& reader) {
  auto out = std::make_unique<TensorWeights>();
  for (const files::SafeTensors::Entry* e : reader.checkpoint.entries())
    if (!is_derived(e->name)) TRY(reader.read(*e, *out));
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
  const FolderQuantization quantization = TRY(folder_quantization(config, place));
  const auto checkpoint = TRY(files::read_safetensors_folder(folder));
  out.weights = TRY(weights_of({checkpoint, *out.family, out.model, quantization}));
  return out;
}

}  // namespace tenon::nn
