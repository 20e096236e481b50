// SPDX-License-Identifier: Apache-2.0
// Adapters of GGUF. Source: llama.cpp's src/llama-adapter.cpp and convert_lora_to_gguf.py.
#include "nn/adapters/weight_updates.h"
#include "nn/checkpoint/gguf_constant.h"

namespace tenon::nn {
namespace {

std::string_view text_at(const files::Gguf& file, std::string_view key) {
  const files::GgufValue* const value = file.find(key);
  return value ? value->text().value_or("") : "";
}

Result<void> check_kind_of_adapter(const files::Gguf& file, const std::string& place, const Family& family) {
  if (text_at(file, "general.type") != "adapter")
    return fail(Code::bad_input, place, "the file is no adapter")
        .expected("general.type \"adapter\"")
        .found("\"" + std::string(text_at(file, "general.type")) + "\"");
  if (const std::string_view kind = text_at(file, "adapter.type"); kind != "lora")
    return fail(Code::not_supported, place, "not supported yet: adapters of the kind '" + std::string(kind) + "'").expected("lora");
  if (file.find("adapter.alora.invocation_tokens"))
    return fail(Code::not_supported, place, "not supported yet: adapters that tokens invoke (aLoRA)").expected("lora");
  if (file.architecture() != family.name)
    return fail(Code::bad_input, place, "the adapter is of another architecture than the checkpoint")
        .expected(std::string(family.name))
        .found(std::string(file.architecture()));
  return {};
}

/// The factor of B * A: scale * alpha / rank; `scale` where the file has no alpha.
double scale_factor(const files::Gguf& file, double scale, int64_t rank) {
  const files::GgufValue* const value = file.find("adapter.lora.alpha");
  const double alpha = value ? value->number().value_or(0) : 0;
  return alpha == 0 ? scale : scale * alpha / static_cast<double>(rank);
}

}  // namespace

Result<WeightUpdates> read_gguf_adapter(const std::filesystem::path& path, double scale, const Checkpoint& checkpoint) {
  const auto file = std::make_shared<const files::Gguf>(TRY(files::read_gguf(path)));
  TRY(check_kind_of_adapter(*file, path.string(), *checkpoint.family));
  UpdateCollector out(checkpoint, UpdateCollector::Layout::gguf, path.string());
  for (const files::Gguf::Tensor& t : file->tensors) {
    const std::string_view name = t.name;
    const bool is_down = name.ends_with(".lora_a"), is_up = name.ends_with(".lora_b");
    if (!is_down && !is_up) {
      out.add(std::string(name), {.replacement = gguf_constant(t, file)}, std::string(name));
      continue;
    }
    const std::string weight(name.substr(0, name.size() - 7));
    const files::Gguf::Tensor *const a = file->find_tensor(weight + ".lora_a"), *const b = file->find_tensor(weight + ".lora_b");
    const bool is_embedding = weight == "token_embd.weight";  // its A is transposed: [vocabulary, r]
    if (!a || !b || a->shape.size() != 2 || b->shape.size() != 2 || b->shape[1] != a->shape[is_embedding ? 1 : 0] || b->shape[1] == 0) {
      out.add_unpaired(std::string(name));
    } else if (is_down) {
      const double factor = scale_factor(*file, scale, b->shape[1]);
      const ir::ConstantRef down = gguf_constant(*a, file), up = gguf_constant(*b, file);
      auto value = TRY(is_embedding ? low_rank_product(down, up, factor) : low_rank_product(up, ir::permute(down, {1, 0}), factor));
      out.add(weight, {.delta = std::move(value)}, std::string(name));
    }
  }
  return out.finish();
}

}  // namespace tenon::nn
