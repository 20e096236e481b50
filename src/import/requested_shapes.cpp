// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "import/onnx_types.h"

namespace tenon::import {
namespace {

constexpr int64_t kMaxSize = int64_t{1} << 40;

Error bad_shape(const OnnxValueInfo& input, std::string what, std::string expected, std::string found) {
  return fail(Code::bad_input, fmt::format("input '{}'", input.name), "the requested shape does not fit: " + std::move(what))
      .expected(std::move(expected))
      .found(std::move(found));
}

std::string names_of(const std::vector<OnnxValueInfo>& inputs) {
  std::string out;
  for (const OnnxValueInfo& i : inputs) out += (out.empty() ? "" : ", ") + std::string(i.name);
  return out;
}

}  // namespace

Result<void> TypeReader::learn(const std::vector<OnnxValueInfo>& inputs, const std::vector<RequestedShape>& shapes) {
  for (const RequestedShape& shape : shapes) {
    auto at = std::ranges::find(inputs, shape.input, &OnnxValueInfo::name);
    if (at == inputs.end())
      return fail(Code::bad_input, std::string(file_), "a shape is given for an input that the model does not have")
          .expected("one of: " + names_of(inputs))
          .found(shape.input);
    TRY(learn(*at, shape));
    if (!requests_.emplace(shape.input, shape).second) return bad_shape(*at, "the input is named twice", "one shape", "two");
  }
  for (const OnnxValueInfo& input : inputs)
    for (const OnnxDim& d :
         input.type.kind == OnnxType::Kind::tensor ? input.type.shape.value_or(std::vector<OnnxDim>{}) : std::vector<OnnxDim>{})
      if (!d.value && is_identifier(d.param)) param(d.param);
  return {};
}

Result<void> TypeReader::learn(const OnnxValueInfo& input, const RequestedShape& shape) {
  if (!input.type.shape) return {};
  const auto& declared = *input.type.shape;
  if (declared.size() != shape.dims.size())
    return bad_shape(input, "other rank", fmt::format("{} sizes", declared.size()), fmt::format("{}", shape.dims.size()));
  for (size_t i = 0; i < declared.size(); ++i) {
    if (shape.dims[i].size) TRY(learn_size(input, i, *shape.dims[i].size));
    if (shape.dims[i].interval) TRY(learn_interval(input, i, *shape.dims[i].interval));
  }
  return {};
}

Result<void> TypeReader::learn_size(const OnnxValueInfo& input, size_t axis, int64_t wanted) {
  const OnnxDim& declared = (*input.type.shape)[axis];
  if (wanted < 0 || wanted > kMaxSize) return bad_shape(input, "a size is out of range", "0 to 2^40", std::to_string(wanted));
  if (declared.value.value_or(-1) >= 0 && *declared.value != wanted)
    return bad_shape(input, fmt::format("dimension {} is fixed in the model", axis), std::to_string(*declared.value),
                     std::to_string(wanted));
  if (declared.value || !is_identifier(declared.param)) return {};
  auto [at, fresh] = fixed_.emplace(declared.param, wanted);
  if (!fresh && at->second != wanted)
    return bad_shape(input, fmt::format("'{}' is given two sizes", at->first), std::to_string(at->second), std::to_string(wanted));
  return {};
}

Result<void> TypeReader::learn_interval(const OnnxValueInfo& input, size_t axis, const SizeInterval& wanted) {
  const OnnxDim& declared = (*input.type.shape)[axis];
  const std::string text = fmt::format("{}..{}", wanted.least, wanted.most);
  if (wanted.least < 0 || wanted.most > kMaxSize || wanted.least > wanted.usual || wanted.usual > wanted.most)
    return bad_shape(input, "an interval is none", "least:usual:most, in this order, from 0 to 2^40",
                     fmt::format("{}:{}:{}", wanted.least, wanted.usual, wanted.most));
  if (const int64_t fixed = declared.value.value_or(-1); fixed >= 0) {
    if (fixed >= wanted.least && fixed <= wanted.most) return {};
    return bad_shape(input, fmt::format("dimension {} is fixed in the model", axis), std::to_string(fixed), text);
  }
  if (declared.value || declared.param.empty() || declared.param == "?") return {};  // a size of its own: see input_type
  if (!is_identifier(declared.param))
    return fail(Code::not_supported, fmt::format("input '{}'", input.name),
                fmt::format("not supported yet: an interval of dimension {}, which the model says by others", axis))
        .expected("intervals of sizes with a name of their own")
        .found(std::string(declared.param));
  const DimNode* known = symbols_.symbol(declared.param).node();
  if (std::max(known->lower, wanted.least) > std::min(known->upper, wanted.most))
    return bad_shape(input, fmt::format("'{}' is given two intervals that have no size in common", declared.param),
                     fmt::format("{}..{}", known->lower, known->upper), text);
  symbols_.symbol(declared.param, wanted.least, wanted.most);
  return {};
}

}  // namespace tenon::import
