// SPDX-License-Identifier: Apache-2.0
#include "nn/adapters/weight_updates.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/nearest.h"
#include "nn/checkpoint/folder_weights.h"
#include "nn/name_list.h"

namespace tenon::nn {
namespace {

UpdateCollector::Layout layout_of(const Checkpoint& checkpoint) {
  const auto layout = checkpoint.model.text("rope.layout", "interleaved");
  return layout && *layout == "half_split" ? UpdateCollector::Layout::folder : UpdateCollector::Layout::gguf;
}

/// Each head's rows as a matrix [parts, rows / parts], transposed: the rows of a head get another order, the shape stays.
ir::ConstantRef transposed_rows_of_heads(ir::ConstantRef value, int64_t heads, int64_t parts) {
  const Sizes shape = value->shape;
  const int64_t rows = shape[0], columns = rows > 0 ? value->count() / rows : 0;
  ir::ConstantRef grouped = ir::reshape(std::move(value), {heads, parts, rows / heads / parts, columns});
  return ir::reshape(ir::permute(std::move(grouped), {0, 2, 1, 3}), shape);
}

std::string sizes_text(const Sizes& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

}  // namespace

Result<ir::ConstantRef> low_rank_product(ir::ConstantRef left, ir::ConstantRef right, double factor) {
  Tensor factors = TRY(Tensor::make(DType::f64, {right->shape[0]}));
  std::ranges::fill(factors.as_mutable<double>(), factor);
  ir::ConstantRef scaled = ir::scale(ir::cast(std::move(right), DType::f64), ir::constant_of(std::move(factors)), 0);
  return ir::product(ir::cast(std::move(left), DType::f32), std::move(scaled));
}

UpdateCollector::UpdateCollector(const Checkpoint& checkpoint, Layout layout, std::string place)
    : checkpoint_(checkpoint), adapter_layout_(layout), checkpoint_layout_(layout_of(checkpoint)), place_(std::move(place)) {}

/// A checkpoint without "output.weight" has a tied output: it uses the embedding's weight.
std::optional<Sizes> UpdateCollector::shape_of(const std::string& name) const {
  const auto shape = checkpoint_.weights->shape_of(name);
  return shape || name != "output.weight" ? shape : checkpoint_.weights->shape_of("token_embd.weight");
}

ir::ConstantRef UpdateCollector::in_layout_of_checkpoint(const std::string& name, ir::ConstantRef value) const {
  if (adapter_layout_ == checkpoint_layout_ || !checkpoint_.family->pairs_rows_in_gguf) return value;
  const std::string_view layer_name = std::string_view(name).substr(0, name.rfind('.'));
  const bool is_query = layer_name.ends_with(".attn_q"), is_key = layer_name.ends_with(".attn_k");
  const auto query_heads = checkpoint_.model.size("attention.head_count");
  if (!query_heads || (!is_query && !is_key)) return value;
  const int64_t heads = is_query ? *query_heads : checkpoint_.model.size("attention.head_count_kv", *query_heads).value_or(*query_heads);
  if (value->shape[0] == 0 || value->shape[0] % (2 * heads) != 0) return value;  // make_decoder refuses such a weight
  const int64_t parts = adapter_layout_ == Layout::folder ? 2 : value->shape[0] / heads / 2;
  return transposed_rows_of_heads(std::move(value), heads, parts);
}

void UpdateCollector::add(const std::string& name, WeightUpdate update, const std::string& name_in_adapter) {
  const auto shape = shape_of(name);
  if (!shape) return unmatched_.push_back(name_in_adapter);
  const auto add_wrong_shape = [&](const Sizes& found, const Sizes& expected) {
    wrong_shapes_.push_back(fmt::format("{} gives {} for {}", name_in_adapter, sizes_text(found), sizes_text(expected)));
  };
  ir::ConstantRef& value = update.replacement ? update.replacement : update.delta;
  if (*shape != value->shape) return add_wrong_shape(value->shape, *shape);
  value = in_layout_of_checkpoint(name, ir::cast(std::move(value), DType::f32));
  if (auto& magnitudes = update.magnitudes) {
    const Sizes expected{(*shape)[static_cast<size_t>(magnitudes->axis)]};
    if (magnitudes->values->shape != expected) return add_wrong_shape(magnitudes->values->shape, expected);
    if (magnitudes->axis == 0) magnitudes->values = in_layout_of_checkpoint(name, std::move(magnitudes->values));
  }
  WeightUpdate& collected = updates_[name];
  if (update.replacement ? collected.replacement : collected.delta) return duplicates_.push_back(name_in_adapter);
  if (update.replacement) collected.replacement = std::move(update.replacement);
  else collected = {collected.replacement, std::move(update.delta), std::move(update.magnitudes)};
}

Result<WeightUpdates> UpdateCollector::finish() {
  std::string found = listed("that match no weight", unmatched_) + listed("of other sizes", wrong_shapes_) +
                      listed("that change one weight twice", duplicates_) + listed("without the other matrix", unpaired_) +
                      listed("with only some of use_dora, lora_A, lora_B and lora_magnitude_vector", incomplete_dora_) +
                      listed("of no known meaning", unknown_);
  if (found.empty() && !updates_.empty()) return std::move(updates_);
  if (found.empty())
    return fail(Code::bad_input, place_, "the adapter changes nothing").expected("matrices lora_A and lora_B").found("none");
  found.resize(found.size() - 2);
  std::vector<std::string> names;
  for (const std::string& name : checkpoint_.weights->names())
    names.push_back(adapter_layout_ == Layout::folder ? folder_name(name, *checkpoint_.family) : name);
  return fail(Code::bad_input, place_, "the adapter does not fit this checkpoint")
      .expected("changes of weights of the checkpoint, each of its weight's sizes")
      .found(found)
      .advice(unmatched_.empty() ? "" : did_you_mean(unmatched_[0], names));
}

}  // namespace tenon::nn
