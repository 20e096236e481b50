// SPDX-License-Identifier: Apache-2.0
#include "nn/decoder/weight_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nn/name_list.h"

namespace tenon::nn {
ir::ConstantRef WeightReader::read(const std::string& name, const Sizes& shape) {
  used_.insert(name);
  const auto found = weights_.shape_of(name);
  if (!found) missing_.push_back(fmt::format("{} [{}]", name, fmt::join(shape, ", ")));
  else if (*found != shape) wrong_.push_back(fmt::format("{} [{}] is [{}]", name, fmt::join(shape, ", "), fmt::join(*found, ", ")));
  else return weights_.constant(name);
  return nullptr;
}

ir::ValueId WeightReader::linear(const std::string& name, ir::ValueId x, int64_t inputs, int64_t outputs) {
  return linear_part(name, x, inputs, outputs, 0, outputs);
}

ir::ValueId WeightReader::linear_part(const std::string& name, ir::ValueId x, int64_t inputs, int64_t all, int64_t begin, int64_t outputs) {
  const bool is_biased = has(name + ".bias");
  const ir::ConstantRef weight = read(name + ".weight", {all, inputs}), bias = is_biased ? read(name + ".bias", {all}) : nullptr;
  if (!weight || (is_biased && !bias)) return {};
  const std::vector<int64_t> order = weights_.input_order(name + ".weight");
  if (!order.empty() && x) x = build_("Gather", {x, build_.constant(Tensor::of_i64({inputs}, order))}, {{"axis", int64_t{-1}}});
  const int64_t end = begin + outputs;
  return product(ir::slice(weight, 0, begin, end), bias ? ir::slice(bias, 0, begin, end) : nullptr, x);
}

ir::ValueId WeightReader::product(ir::ConstantRef weight, ir::ConstantRef bias, ir::ValueId x) {
  if (!x) return {};
  const ir::ValueId y = build_("MatMul", {x, build_.constant(ir::permute(std::move(weight), {1, 0}))});
  return bias ? build_("Add", {y, build_.constant(std::move(bias))}) : y;
}

Result<void> WeightReader::finish() const {
  std::vector<std::string> left_over;
  for (const std::string& name : weights_.names())
    if (!used_.contains(name)) left_over.push_back(name);
  if (missing_.empty() && wrong_.empty() && left_over.empty()) return {};
  std::string found = listed("missing", missing_) + listed("of another shape", wrong_) + listed("left over", left_over);
  found.resize(found.size() - 2);
  return fail(Code::bad_input, "weights", "the weights are not those of this network")
      .expected("each weight of it, and no other")
      .found(found);
}

}  // namespace tenon::nn
