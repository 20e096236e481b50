// SPDX-License-Identifier: Apache-2.0
#include "nn/checkpoint/gguf_constant.h"

#include <algorithm>

#include "nn/checkpoint/checkpoint.h"

namespace tenon::nn {
namespace {

/// A tensor of a GGUF file with factors of the rotation's frequencies, and the key of the hyperparameter that gets its elements.
struct RotationFactors {
  std::string_view tensor;
  const char* key;
};
constexpr RotationFactors kRotationFactors[] = {
    {"rope_freqs.weight", "rope.factors"},
    {"rope_factors_long.weight", "rope.factors_long"},
    {"rope_factors_short.weight", "rope.factors_short"},
};

class GgufWeights : public Weights {
 public:
  explicit GgufWeights(files::Gguf file) : file_(std::make_shared<const files::Gguf>(std::move(file))) {}
  std::vector<std::string> names() const override {
    std::vector<std::string> out;
    for (const files::Gguf::Tensor& t : file_->tensors)
      if (std::ranges::find(kRotationFactors, t.name, &RotationFactors::tensor) == std::end(kRotationFactors)) out.emplace_back(t.name);
    return out;
  }
  std::optional<Sizes> shape_of(std::string_view name) const override {
    const files::Gguf::Tensor* const found = file_->find_tensor(name);
    return found ? std::optional<Sizes>(found->shape) : std::nullopt;
  }
  ir::ConstantRef constant(std::string_view name) const override { return gguf_constant(*file_->find_tensor(name), file_); }

 private:
  std::shared_ptr<const files::Gguf> file_;
};

std::optional<Hyperparameters::Value> value_of(const files::GgufValue& value) {
  if (const auto v = value.boolean()) return *v;
  if (const auto v = value.integer()) return *v;
  if (const auto v = value.number()) return *v;
  if (const auto v = value.text()) return std::string(*v);
  return std::nullopt;
}

Result<std::vector<double>> numbers_of(const files::Gguf::Tensor& tensor) {
  const Tensor values = TRY(ir::materialise(*gguf_constant(tensor, nullptr)));
  return std::vector<double>(values.as<float>().begin(), values.as<float>().end());
}

}  // namespace

ir::ConstantRef gguf_constant(const files::Gguf::Tensor& tensor, std::shared_ptr<const void> keeper) {
  if (tensor.format->name == "F32") return ir::constant_of(Tensor::view(DType::f32, tensor.shape, tensor.bytes.data(), std::move(keeper)));
  for (const auto& [name, dtype] : {std::pair{"F16", DType::f16}, {"BF16", DType::bf16}})
    if (tensor.format->name == name)
      return ir::cast(ir::constant_of(Tensor::view(dtype, tensor.shape, tensor.bytes.data(), std::move(keeper))), DType::f32);
  Tensor codes = Tensor::view(DType::u8, {static_cast<int64_t>(tensor.bytes.size())}, tensor.bytes.data(), std::move(keeper));
  return ir::decode_blocks(std::move(codes), *tensor.format, tensor.shape);
}

Result<Checkpoint> read_gguf_checkpoint(const std::filesystem::path& path) {
  files::Gguf file = TRY(files::read_gguf(path));
  const std::string architecture(file.architecture());
  if (architecture.empty())
    return fail(Code::bad_input, path.string(), "the file names no architecture").expected("general.architecture, a string").found("none");
  Checkpoint out;
  out.family = TRY(family_of(architecture));
  for (const files::Gguf::Entry& e : file.metadata)
    if (e.key.starts_with(architecture) && e.key.substr(architecture.size()).starts_with('.'))
      if (auto value = value_of(e.value)) out.model.set(std::string(e.key.substr(architecture.size() + 1)), std::move(*value));
  for (const auto& [tensor, key] : kRotationFactors)
    if (const files::Gguf::Tensor* const factors = file.find_tensor(tensor)) out.model.set(key, TRY(numbers_of(*factors)));
  out.weights = std::make_unique<GgufWeights>(std::move(file));
  return out;
}

}  // namespace tenon::nn
