// SPDX-License-Identifier: Apache-2.0
#include "nn/adapters/adapter.h"

#include <fmt/format.h>

#include "files/gguf.h"
#include "nn/adapters/changes.h"

namespace tenon::nn {
namespace {

constexpr std::string_view kEmbedding = "token_embd.weight", kOutput = "output.weight";

/// The weight with the change, without its magnitudes.
ir::ConstantRef changed(const Weights& weights, std::string_view name, const Change& change) {
  ir::ConstantRef base = change.base ? change.base : weights.constant(weights.shape_of(name) ? name : kEmbedding);
  return change.added ? ir::sum(std::move(base), change.added) : base;
}

/// The weights of a checkpoint with the changes of one adapter.
class AdaptedWeights : public Weights {
 public:
  AdaptedWeights(std::unique_ptr<Weights> of, Changes changes)
      : of_(std::move(of)),
        changes_(std::move(changes)),
        parts_output_(!of_->shape_of(kOutput) && (changes_.contains(kEmbedding) || changes_.contains(kOutput))) {}

  /// The embedding is not the output's table any more.
  bool parts_output() const { return parts_output_; }

  std::vector<std::string> names() const override {
    std::vector<std::string> out = of_->names();
    if (parts_output_) out.emplace_back(kOutput);
    return out;
  }
  std::optional<Sizes> shape_of(std::string_view name) const override { return of_->shape_of(source_of(name)); }
  ir::ConstantRef constant(std::string_view name) const override {
    const auto change = changes_.find(name);
    return change == changes_.end() ? of_->constant(source_of(name)) : changed(*of_, name, change->second);
  }

 private:
  std::string_view source_of(std::string_view name) const { return parts_output_ && name == kOutput ? kEmbedding : name; }

  std::unique_ptr<Weights> of_;
  Changes changes_;
  bool parts_output_;
};

/// Bytes of f32 in place of blocks.
struct Decoded {
  int64_t tensors = 0, more_bytes = 0;
};

void count_decoded(const Weights& weights, const Changes& changes, Decoded& decoded) {
  for (const auto& [name, change] : changes) {
    if (!weights.shape_of(name)) continue;
    const ir::ConstantRef weight = weights.constant(name);
    const auto* const blocks = std::get_if<ir::Constant::Blocks>(&weight->source);
    if (!blocks || blocks->format->elements == 1 || change.base) continue;
    ++decoded.tensors;
    decoded.more_bytes += weight->byte_size() - blocks->codes.byte_size();
  }
}

/// Changes with magnitudes become ones that replace the weight.
Result<void> apply_magnitudes(const Weights& weights, Changes& changes) {
  for (auto& [name, change] : changes)
    if (change.magnitudes) change = {.base = TRY(scaled_to(changed(weights, name, change), *change.magnitudes))};
  return {};
}

}  // namespace

Result<std::vector<std::string>> merge_adapters(std::span<const AdapterFile> adapters, Checkpoint& checkpoint) {
  Decoded decoded;
  std::vector<std::string> warnings;
  for (const auto& [path, scale] : adapters) {
    if (!std::filesystem::exists(path))
      return fail(Code::file_missing, path.string(), "there is no such adapter")
          .expected("a folder or a .safetensors file of PEFT, or a GGUF file")
          .found("nothing");
    Changes changes = TRY(files::is_gguf(path) ? read_gguf_adapter(path, scale, checkpoint) : read_peft_adapter(path, scale, checkpoint));
    count_decoded(*checkpoint.weights, changes, decoded);
    TRY(apply_magnitudes(*checkpoint.weights, changes));
    auto adapted = std::make_unique<AdaptedWeights>(std::move(checkpoint.weights), std::move(changes));
    if (adapted->parts_output())
      warnings.push_back(path.string() + ": the adapter changes the embedding or the output's table, which were one; both are stored");
    checkpoint.weights = std::move(adapted);
  }
  if (decoded.tensors > 0)
    warnings.push_back(fmt::format("adapters change {} tensors of blocks, which become f32: {:.1f} MB more", decoded.tensors,
                                   static_cast<double>(decoded.more_bytes) / 1e6));
  return warnings;
}

}  // namespace tenon::nn
