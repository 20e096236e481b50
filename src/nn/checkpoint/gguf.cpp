// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "files/gguf.h"
#include "nn/checkpoint/checkpoint.h"

namespace tenon::nn {
namespace {

class GgufWeights : public Weights {
 public:
  explicit GgufWeights(files::Gguf file) : keeper_(std::move(file.keeper)) {
    for (files::GgufTensor& t : file.tensors) tensors_.emplace(t.name, std::move(t));
  }
  std::vector<std::string> names() const override {
    std::vector<std::string> out;
    for (const auto& [name, tensor] : tensors_) out.push_back(name);
    return out;
  }
  std::optional<Sizes> shape_of(std::string_view name) const override {
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? std::nullopt : std::optional<Sizes>(found->second.shape);
  }
  ir::ConstantRef constant(std::string_view name) const override {
    const files::GgufTensor& t = tensors_.find(name)->second;
    if (t.format->name == "F32") return ir::constant_of(Tensor::view(DType::f32, t.shape, t.bytes.data(), keeper_));
    return ir::decoded(Tensor::view(DType::u8, {static_cast<int64_t>(t.bytes.size())}, t.bytes.data(), keeper_), *t.format, t.shape);
  }

 private:
  std::map<std::string, files::GgufTensor, std::less<>> tensors_;
  std::shared_ptr<const void> keeper_;
};

std::optional<Hyperparameters::Value> value_of(const files::GgufValue& value) {
  if (const auto* v = std::get_if<int64_t>(&value)) return *v;
  if (const auto* v = std::get_if<double>(&value)) return *v;
  if (const auto* v = std::get_if<bool>(&value)) return *v;
  if (const auto* v = std::get_if<std::string>(&value)) return *v;
  return std::nullopt;
}

Result<void> check_formats(const files::Gguf& file, const std::string& place) {
  for (const files::GgufTensor& t : file.tensors)
    if (!t.format->decode)
      return fail(Code::not_supported, fmt::format("{}, tensor '{}'", place, t.name),
                  fmt::format("not supported yet: blocks of {}", t.format->name))
          .expected("F32, F16, BF16, Q4_0 to Q8_0, Q2_K to Q6_K, IQ4_NL, IQ4_XS or MXFP4")
          .found(std::string(t.format->name));
  return {};
}

}  // namespace

Result<Checkpoint> read_gguf_checkpoint(const std::filesystem::path& path) {
  files::Gguf file = TRY(files::read_gguf(path));
  const files::GgufValue* const architecture = file.find("general.architecture");
  const auto* const name = architecture ? std::get_if<std::string>(architecture) : nullptr;
  if (!name)
    return fail(Code::bad_input, path.string(), "the file names no architecture")
        .expected("general.architecture, a string")
        .found(architecture ? "another value" : "none");
  Checkpoint out;
  out.family = TRY(family_of(*name));
  for (const auto& [key, value] : file.metadata)
    if (key.size() > name->size() && key.starts_with(*name) && key[name->size()] == '.')
      if (auto known = value_of(value)) out.model.set(key.substr(name->size() + 1), std::move(*known));
  if (std::ranges::any_of(file.tensors, [](const files::GgufTensor& t) { return t.name.ends_with("rope_freqs.weight"); }))
    return fail(Code::not_supported, path.string(), "not supported yet: factors of the rotation's frequencies").found("rope_freqs.weight");
  TRY(check_formats(file, path.string()));
  out.weights = std::make_unique<GgufWeights>(std::move(file));
  return out;
}

}  // namespace tenon::nn
