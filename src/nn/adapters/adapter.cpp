// SPDX-License-Identifier: Apache-2.0
#include "nn/adapters/adapter.h"

#include <fmt/format.h>

#include "files/gguf.h"
#include "nn/adapters/weight_updates.h"

namespace tenon::nn {
namespace {

constexpr std::string_view kEmbedding = "token_embd.weight", kOutput = "output.weight";

/// The weight with the update's replacement and delta, and without its magnitudes.
ir::ConstantRef updated_weight(const Weights& weights, std::string_view name, const WeightUpdate& update) {
  ir::ConstantRef base = update.replacement ? update.replacement : weights.constant(weights.shape_of(name) ? name : kEmbedding);
  return update.delta ? ir::sum(std::move(base), update.delta) : base;
}

/// The weights of a checkpoint with the updates of one adapter applied.
class AdaptedWeights : public Weights {
 public:
  AdaptedWeights(std::unique_ptr<Weights> base_weights, WeightUpdates updates)
      : base_weights_(std::move(base_weights)),
        updates_(std::move(updates)),
        unties_output_(!base_weights_->shape_of(kOutput) && (updates_.contains(kEmbedding) || updates_.contains(kOutput))) {}

  /// The embedding and the output projection had one weight (tied), and the adapter changes one of them, so that both are stored now.
  bool unties_output() const { return unties_output_; }

  std::vector<std::string> names() const override {
    std::vector<std::string> out = base_weights_->names();
    if (unties_output_) out.emplace_back(kOutput);
    return out;
  }
  std::optional<Sizes> shape_of(std::string_view name) const override { return base_weights_->shape_of(stored_name(name)); }
  ir::ConstantRef constant(std::string_view name) const override {
    const auto update = updates_.find(name);
    return update == updates_.end() ? base_weights_->constant(stored_name(name)) : updated_weight(*base_weights_, name, update->second);
  }
  std::vector<int64_t> input_order(std::string_view name) const override {
    return updates_.contains(name) ? std::vector<int64_t>() : base_weights_->input_order(stored_name(name));
  }

 private:
  std::string_view stored_name(std::string_view name) const { return unties_output_ && name == kOutput ? kEmbedding : name; }

  std::unique_ptr<Weights> base_weights_;
  WeightUpdates updates_;
  bool unties_output_;
};

/// Quantized weights that updates turn into f32: their number, and by how many bytes they grow.
struct DecodedCount {
  int64_t tensors = 0, extra_bytes = 0;
};

void count_decoded_blocks(const Weights& weights, const WeightUpdates& updates, DecodedCount& decoded) {
  for (const auto& [name, update] : updates) {
    if (!weights.shape_of(name)) continue;
    const ir::ConstantRef weight = weights.constant(name);
    const auto* const blocks = std::get_if<ir::Constant::Blocks>(&weight->source);
    if (!blocks || blocks->format->elements == 1 || update.replacement) continue;
    ++decoded.tensors;
    decoded.extra_bytes += weight->byte_size() - blocks->codes.byte_size();
  }
}

/// Deltas have their columns in the order of the inputs. Errors: not_supported where a weight that one is added to has not.
Result<void> check_input_orders(const Weights& weights, const WeightUpdates& updates, const std::string& adapter) {
  for (const auto& [name, update] : updates)
    if (!update.replacement && !weights.input_order(name).empty())
      return fail(Code::not_supported, adapter, "not supported yet: an adapter of a matrix that is quantized with desc_act")
          .expected("matrices whose groups are in the order of their inputs")
          .found(name)
          .advice("merge the adapter into the weights before they are quantized, or quantize with desc_act=false");
  return {};
}

/// Turns updates with magnitudes into ones that replace the weight.
Result<void> apply_magnitudes(const Weights& weights, WeightUpdates& updates) {
  for (auto& [name, update] : updates)
    if (update.magnitudes) update = {.replacement = TRY(rescaled(updated_weight(weights, name, update), *update.magnitudes))};
  return {};
}

}  // namespace

Result<std::vector<std::string>> merge_adapters(std::span<const AdapterFile> adapters, Checkpoint& checkpoint) {
  DecodedCount decoded;
  std::vector<std::string> warnings;
  for (const auto& [path, scale] : adapters) {
    if (!std::filesystem::exists(path))
      return fail(Code::file_missing, path.string(), "there is no such adapter")
          .expected("a folder or a .safetensors file of PEFT, or a GGUF file")
          .found("nothing");
    WeightUpdates updates =
        TRY(files::is_gguf(path) ? read_gguf_adapter(path, scale, checkpoint) : read_peft_adapter(path, scale, checkpoint));
    TRY(check_input_orders(*checkpoint.weights, updates, path.string()));
    count_decoded_blocks(*checkpoint.weights, updates, decoded);
    TRY(apply_magnitudes(*checkpoint.weights, updates));
    auto adapted = std::make_unique<AdaptedWeights>(std::move(checkpoint.weights), std::move(updates));
    if (adapted->unties_output())
      warnings.push_back(path.string() + ": the adapter changes the embedding or the output's table, which were one; both are stored");
    checkpoint.weights = std::move(adapted);
  }
  if (decoded.tensors > 0)
    warnings.push_back(fmt::format("adapters change {} tensors of blocks, which become f32: {:.1f} MB more", decoded.tensors,
                                   static_cast<double>(decoded.extra_bytes) / 1e6));
  return warnings;
}

}  // namespace tenon::nn
