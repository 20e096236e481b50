// SPDX-License-Identifier: Apache-2.0
// Adapters of PEFT. Source: peft/utils/save_and_load.py, peft/tuners/lora/layer.py, dora.py and variants.py.
#include <array>
#include <optional>

#include "files/safetensors.h"
#include "nn/adapters/peft_config.h"
#include "nn/adapters/weight_updates.h"
#include "nn/checkpoint/folder_weights.h"

namespace tenon::nn {
namespace {

/// The tensors that an adapter has for one module.
struct LoraTensors {
  const Tensor *down = nullptr, *up = nullptr;  ///< A [r, inputs], B [outputs, r]; of an embedding [r, vocabulary], [width, r]
  const Tensor* magnitude = nullptr;            ///< of DoRA, [outputs]; of an embedding [width]
  bool is_embedding = false;
  std::string name_in_adapter;  ///< of any one of these tensors
};

/// "model.layers.0.self_attn.q_proj" and "lora_A" from ...q_proj.lora_A.weight; nullopt: the tensor has no such name.
std::optional<std::pair<std::string, std::string>> split_lora_name(std::string_view name) {
  for (const std::string_view part : {"lora_A", "lora_B", "lora_embedding_A", "lora_embedding_B", "lora_magnitude_vector"})
    for (const std::string_view end : {"", ".weight", ".default", ".default.weight"}) {
      const std::string suffix = "." + std::string(part) + std::string(end);
      if (name.ends_with(suffix)) return std::pair(std::string(name.substr(0, name.size() - suffix.size())), std::string(part));
    }
  return std::nullopt;
}

/// The name of the weight that a tensor of the adapter replaces (modules_to_save, base_layer); "" where it is no such tensor.
std::string replaced_weight(std::string name) {
  if ((!name.ends_with(".weight") && !name.ends_with(".bias")) || name.contains("lora_")) return "";
  for (const std::string_view wrapper : {".modules_to_save.default", ".modules_to_save", ".base_layer"})
    if (const size_t at = name.find(wrapper); at != name.npos) name.erase(at, wrapper.size());
  return name;
}

class PeftReader {
 public:
  PeftReader(const Checkpoint& checkpoint, PeftConfig config, double scale, const std::string& place)
      : checkpoint_(checkpoint), config_(std::move(config)), scale_(scale), out_(checkpoint, UpdateCollector::Layout::folder, place) {}

  Result<WeightUpdates> read(const files::SafeTensors& file) {
    for (const files::SafeTensors::Entry& e : file.entries) {
      std::string_view name = e.name;
      if (constexpr std::string_view kPrefix = "base_model.model."; name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
      if (!is_float(e.tensor.dtype())) out_.add_unknown(e.name);
      else if (const auto part = split_lora_name(name)) add_lora_tensor(part->first, part->second, e);
      else if (const std::string weight = replaced_weight(std::string(name)); weight.empty()) out_.add_unknown(e.name);
      else TRY(add_replacement(weight, e));
    }
    for (const auto& [module, pair] : lora_tensors_) TRY(add_lora_update(module, pair));
    return out_.finish();
  }

 private:
  void add_lora_tensor(const std::string& module, std::string_view part, const files::SafeTensors::Entry& e) {
    LoraTensors& pair = lora_tensors_[module];
    pair.is_embedding |= part.contains("embedding");
    pair.name_in_adapter = e.name;
    if (part == "lora_magnitude_vector") pair.magnitude = &e.tensor;
    else (part.ends_with('A') ? pair.down : pair.up) = &e.tensor;
  }

  /// GGUF's name of a weight; modules of a model without its head have no prefix.
  std::string name_in_checkpoint(const std::string& weight) const {
    for (const std::string_view prefix : {"", "model.", "transformer.", "gpt_neox."})
      if (std::string name = gguf_name(std::string(prefix) + weight, *checkpoint_.family); out_.has(name)) return name;
    return gguf_name(weight, *checkpoint_.family);
  }

  Result<void> add_replacement(const std::string& weight, const files::SafeTensors::Entry& e) {
    const std::string name = name_in_checkpoint(weight);
    out_.add(name, {.replacement = TRY(gguf_weight(name, e.tensor, *checkpoint_.family, checkpoint_.model))}, e.name);
    return {};
  }

  Result<void> add_lora_update(const std::string& module, const LoraTensors& pair) {
    if ((pair.magnitude != nullptr) != config_.has_magnitudes || (pair.magnitude && !pair.down && !pair.up)) {
      out_.add_incomplete_dora(pair.name_in_adapter);
      return {};
    }
    const bool fits =
        pair.down && pair.up && pair.down->rank() == 2 && pair.up->rank() == 2 && pair.down->shape()[0] == pair.up->shape()[1];
    if (!fits || pair.down->shape()[0] == 0) {
      out_.add_unpaired(pair.name_in_adapter);
      return {};
    }
    const double factor = scale_ * config_.factor(module, pair.down->shape()[0]);
    const ir::ConstantRef down = ir::permute(ir::constant_of(*pair.down), {1, 0}), up = ir::constant_of(*pair.up);
    const std::string name = name_in_checkpoint(module + ".weight");
    // fan_in_fan_out is not read: the family determines whether a layer stores [inputs, outputs], and PEFT corrects a wrong value of it.
    const ir::ConstantRef value = TRY(pair.is_embedding ? low_rank_product(down, up, factor) : low_rank_product(up, down, factor));
    WeightUpdate update{.delta = TRY(in_gguf_layout(name, value))};
    if (pair.magnitude)  // an embedding [vocabulary, width] is transposed to PEFT: its columns have lengths
      update.magnitudes = Magnitudes{TRY(in_gguf_layout(name, ir::constant_of(*pair.magnitude))), pair.is_embedding ? 1 : 0};
    out_.add(name, std::move(update), module + ".weight");
    return {};
  }

  /// Reorders the rows of `value` as GGUF orders those of the weight. value: one row, or one number, for each row of the weight.
  Result<ir::ConstantRef> in_gguf_layout(const std::string& name, ir::ConstantRef value) const {
    const Family& family = *checkpoint_.family;
    if (!family.to_gguf_layout || !out_.has(name)) return value;
    return family.to_gguf_layout(name, std::move(value), checkpoint_.model);
  }

  const Checkpoint& checkpoint_;
  const PeftConfig config_;
  const double scale_;
  UpdateCollector out_;
  std::map<std::string, LoraTensors> lora_tensors_ = {};
};

}  // namespace

Result<WeightUpdates> read_peft_adapter(const std::filesystem::path& path, double scale, const Checkpoint& checkpoint) {
  const bool is_folder = std::filesystem::is_directory(path);
  const std::filesystem::path file = is_folder ? path / "adapter_model.safetensors" : path;
  PeftConfig config = TRY(read_peft_config(file.parent_path() / "adapter_config.json"));
  if (is_folder && !std::filesystem::exists(file) && std::filesystem::exists(path / "adapter_model.bin"))
    return fail(Code::not_supported, (path / "adapter_model.bin").string(), "not supported yet: adapters as pickles")
        .expected("adapter_model.safetensors")
        .advice("load the adapter in PEFT and save it with safe_serialization=True");
  const files::SafeTensors tensors = TRY(files::read_safetensors(file));
  return PeftReader(checkpoint, std::move(config), scale, path.string()).read(tensors);
}

}  // namespace tenon::nn
