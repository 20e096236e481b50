// SPDX-License-Identifier: Apache-2.0
#include "nn/checkpoint/stored_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>

#include "base/threads/thread_pool.h"
#include "ir/uncast.h"
#include "nn/name_list.h"

namespace tenon::nn {
namespace {

/// The weights of a checkpoint, some of them replaced by name.
class ReplacedWeights : public Weights {
 public:
  ReplacedWeights(std::unique_ptr<Weights> base, std::map<std::string, ir::ConstantRef, std::less<>> replacements)
      : base_(std::move(base)), replacements_(std::move(replacements)) {}
  std::vector<std::string> names() const override { return base_->names(); }
  std::optional<Sizes> shape_of(std::string_view name) const override { return base_->shape_of(name); }
  ir::ConstantRef constant(std::string_view name) const override {
    const auto found = replacements_.find(name);
    return found == replacements_.end() ? base_->constant(name) : found->second;
  }
  std::vector<int64_t> input_order(std::string_view name) const override { return base_->input_order(name); }

 private:
  std::unique_ptr<Weights> base_;
  std::map<std::string, ir::ConstantRef, std::less<>> replacements_;
};

std::vector<std::string> product_matrices(const Weights& weights) {
  std::vector<std::string> out;
  const bool is_tied = !weights.shape_of("output.weight");
  for (std::string& name : weights.names()) {
    const bool is_table = name == "position_embd.weight" || (name == "token_embd.weight" && !is_tied);
    if (!is_table && name.ends_with(".weight") && weights.shape_of(name)->size() == 2) out.push_back(std::move(name));
  }
  return out;
}

/// The format of a quantized constant; null where it is not in blocks of several elements.
const BlockFormat* block_format_of(const ir::Constant& weight) {
  const auto* const blocks = std::get_if<ir::Constant::Blocks>(&weight.source);
  return blocks && blocks->format->elements > 1 ? blocks->format : nullptr;
}

/// Sums of squares for the relative error of a quantization.
struct SquareSums {
  double errors = 0;   ///< of quantization errors
  double weights = 0;  ///< of the weights
};

/// Quantizes some whole blocks; nullopt where quantize() refuses a value.
std::optional<SquareSums> quantize_part(const BlockFormat& format, std::span<const float> values, std::span<std::byte> codes) {
  const auto error = quantize(format, values, codes);
  if (!error) return std::nullopt;
  SquareSums out{*error * *error * static_cast<double>(values.size()), 0};
  for (const float v : values) out.weights += static_cast<double>(v) * static_cast<double>(v);
  return out;
}

/// The weight quantized to blocks of `format`; its errors are added to `squares`. Errors: those of quantize(), with the name as place.
Result<ir::ConstantRef> quantized(const std::string& name, const ir::Constant& weight, const BlockFormat& format, SquareSums& squares) {
  constexpr size_t kBlocksOfTask = 2048;  // so that the sums do not depend on the number of threads
  const Tensor tensor = TRY(ir::materialise(weight));
  const std::span<const float> values = tensor.as<float>();
  const size_t elements = static_cast<size_t>(format.elements), bytes = static_cast<size_t>(format.bytes);
  const size_t blocks = values.size() / elements, tasks = (blocks + kBlocksOfTask - 1) / kBlocksOfTask;
  Tensor codes = TRY(Tensor::make(DType::u8, {static_cast<int64_t>(blocks * bytes)}));
  const std::span<std::byte> out(codes.mutable_data(), blocks * bytes);
  std::vector<std::optional<SquareSums>> parts(tasks);
  const auto run = [&](int64_t begin, int64_t end, int) {
    for (auto task = static_cast<size_t>(begin); task < static_cast<size_t>(end); ++task) {
      const size_t first = task * kBlocksOfTask, count = std::min(kBlocksOfTask, blocks - first);
      parts[task] = quantize_part(format, values.subspan(first * elements, count * elements), out.subspan(first * bytes, count * bytes));
    }
  };
  default_thread_pool().run(static_cast<int64_t>(tasks), 1, run);
  for (const std::optional<SquareSums>& part : parts) {
    if (!part) {
      Error error = quantize(format, values, out).error();
      std::string place = fmt::format("weight '{}', {}", name, error->place);
      return std::unexpected(std::move(error).placed_at(std::move(place)));
    }
    squares.errors += part->errors;
    squares.weights += part->weights;
  }
  return ir::decode_blocks(std::move(codes), format, weight.shape);
}

}  // namespace

Result<StorageReport> store_weights(StoredWeights storage, Checkpoint& checkpoint) {
  if (storage == StoredWeights::keep) return StorageReport{};
  const bool is_quantized = storage == StoredWeights::int8 || storage == StoredWeights::int4;
  const BlockFormat* const format = is_quantized ? block_format_named(storage == StoredWeights::int8 ? "Q8_0" : "Q4_0") : nullptr;
  std::map<std::string, ir::ConstantRef, std::less<>> replacements;
  std::vector<std::string> unaligned;
  SquareSums squares;
  for (const std::string& name : product_matrices(*checkpoint.weights)) {
    const ir::ConstantRef weight = checkpoint.weights->constant(name);
    if (storage == StoredWeights::bf16) {
      replacements.emplace(name, ir::cast(ir::cast(weight, DType::bf16), DType::f32));
    } else if (!format) {
      // Neither blocks nor casts of narrow elements go through f64: the product reads the decoded weight.
      if (block_format_of(*weight) || ir::uncast(*weight)) replacements.emplace(name, ir::cast(ir::cast(weight, DType::f64), DType::f32));
    } else if (weight->shape[1] % format->elements != 0) {
      unaligned.push_back(name);
    } else if (block_format_of(*weight) != format) {
      replacements.emplace(name, TRY(quantized(name, *weight, *format, squares)));
    }
  }
  StorageReport out;
  if (!unaligned.empty()) {
    std::string names = listed("matrices whose rows are no multiple of 32 elements stay as they are", unaligned);
    names.resize(names.size() - 2);
    out.warnings.push_back("--weights: " + names);
  }
  if (format && !replacements.empty())
    out.notes.push_back(fmt::format("quantized {} matrices to {}: the root mean square error is {:.2f} % of the weights'",
                                    replacements.size(), format->name,
                                    squares.weights > 0 ? 100 * std::sqrt(squares.errors / squares.weights) : 0.0));
  checkpoint.weights = std::make_unique<ReplacedWeights>(std::move(checkpoint.weights), std::move(replacements));
  return out;
}

}  // namespace tenon::nn
