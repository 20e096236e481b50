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

/// Some weights of a checkpoint replaced.
class ReplacedWeights : public Weights {
 public:
  ReplacedWeights(std::unique_ptr<Weights> of, std::map<std::string, ir::ConstantRef, std::less<>> replaced)
      : of_(std::move(of)), replaced_(std::move(replaced)) {}
  std::vector<std::string> names() const override { return of_->names(); }
  std::optional<Sizes> shape_of(std::string_view name) const override { return of_->shape_of(name); }
  ir::ConstantRef constant(std::string_view name) const override {
    const auto found = replaced_.find(name);
    return found == replaced_.end() ? of_->constant(name) : found->second;
  }

 private:
  std::unique_ptr<Weights> of_;
  std::map<std::string, ir::ConstantRef, std::less<>> replaced_;
};

std::vector<std::string> matrices_of_products(const Weights& weights) {
  std::vector<std::string> out;
  const bool is_tied = !weights.shape_of("output.weight");
  for (std::string& name : weights.names()) {
    const bool is_table = name == "position_embd.weight" || (name == "token_embd.weight" && !is_tied);
    if (!is_table && name.ends_with(".weight") && weights.shape_of(name)->size() == 2) out.push_back(std::move(name));
  }
  return out;
}

/// Of a constant that is blocks of several elements; null: it is not.
const BlockFormat* format_of(const ir::Constant& weight) {
  const auto* const blocks = std::get_if<ir::Constant::Blocks>(&weight.source);
  return blocks && blocks->format->elements > 1 ? blocks->format : nullptr;
}

struct Squares {
  double errors = 0, weights = 0;
};

/// Of some whole blocks; nullopt: quantize() refuses a value.
std::optional<Squares> quantize_part(const BlockFormat& format, std::span<const float> values, std::span<std::byte> codes) {
  const auto error = quantize(format, values, codes);
  if (!error) return std::nullopt;
  Squares out{*error * *error * static_cast<double>(values.size()), 0};
  for (const float v : values) out.weights += static_cast<double>(v) * static_cast<double>(v);
  return out;
}

/// Adds to `squares`. Errors: those of quantize(), at the name.
Result<ir::ConstantRef> quantized(const std::string& name, const ir::Constant& weight, const BlockFormat& format, Squares& squares) {
  constexpr size_t kBlocksOfTask = 2048;  // so that the sums do not depend on the number of threads
  const Tensor tensor = TRY(ir::materialise(weight));
  const std::span<const float> values = tensor.as<float>();
  const size_t elements = static_cast<size_t>(format.elements), bytes = static_cast<size_t>(format.bytes);
  const size_t blocks = values.size() / elements, tasks = (blocks + kBlocksOfTask - 1) / kBlocksOfTask;
  Tensor codes = TRY(Tensor::make(DType::u8, {static_cast<int64_t>(blocks * bytes)}));
  const std::span<std::byte> out(codes.mutable_data(), blocks * bytes);
  std::vector<std::optional<Squares>> parts(tasks);
  const auto run = [&](int64_t begin, int64_t end, int) {
    for (auto task = static_cast<size_t>(begin); task < static_cast<size_t>(end); ++task) {
      const size_t first = task * kBlocksOfTask, count = std::min(kBlocksOfTask, blocks - first);
      parts[task] = quantize_part(format, values.subspan(first * elements, count * elements), out.subspan(first * bytes, count * bytes));
    }
  };
  default_thread_pool().run(static_cast<int64_t>(tasks), 1, run);
  for (const std::optional<Squares>& part : parts) {
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

Result<StorageReport> store_weights(StoredWeights as, Checkpoint& checkpoint) {
  if (as == StoredWeights::keep) return StorageReport{};
  const bool quantizes = as == StoredWeights::int8 || as == StoredWeights::int4;
  const BlockFormat* const format = quantizes ? block_format_named(as == StoredWeights::int8 ? "Q8_0" : "Q4_0") : nullptr;
  std::map<std::string, ir::ConstantRef, std::less<>> replaced;
  std::vector<std::string> odd;
  Squares squares;
  for (const std::string& name : matrices_of_products(*checkpoint.weights)) {
    const ir::ConstantRef weight = checkpoint.weights->constant(name);
    if (as == StoredWeights::bf16) {
      replaced.emplace(name, ir::cast(ir::cast(weight, DType::bf16), DType::f32));
    } else if (!format) {
      // Neither blocks nor casts of narrow elements go through f64: the product reads the decoded weight.
      if (format_of(*weight) || ir::uncast(*weight)) replaced.emplace(name, ir::cast(ir::cast(weight, DType::f64), DType::f32));
    } else if (weight->shape[1] % format->elements != 0) {
      odd.push_back(name);
    } else if (format_of(*weight) != format) {
      replaced.emplace(name, TRY(quantized(name, *weight, *format, squares)));
    }
  }
  StorageReport out;
  if (!odd.empty()) {
    std::string names = listed("matrices whose rows are no multiple of 32 elements stay as they are", odd);
    names.resize(names.size() - 2);
    out.warnings.push_back("--weights: " + names);
  }
  if (format && !replaced.empty())
    out.notes.push_back(fmt::format("quantized {} matrices to {}: the root mean square error is {:.2f} % of the weights'", replaced.size(),
                                    format->name, squares.weights > 0 ? 100 * std::sqrt(squares.errors / squares.weights) : 0.0));
  checkpoint.weights = std::make_unique<ReplacedWeights>(std::move(checkpoint.weights), std::move(replaced));
  return out;
}

}  // namespace tenon::nn
