// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "import/onnx_types.h"

namespace tenon::import {
namespace {

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
    if (!shape.dims[i].size) continue;
    const int64_t wanted = *shape.dims[i].size;
    if (wanted < 0 || wanted > int64_t{1} << 40) return bad_shape(input, "a size is out of range", "0 to 2^40", std::to_string(wanted));
    if (declared[i].value.value_or(-1) >= 0 && *declared[i].value != wanted)
      return bad_shape(input, fmt::format("dimension {} is fixed in the model", i), std::to_string(*declared[i].value),
                       std::to_string(wanted));
    if (declared[i].value || !is_identifier(declared[i].param)) continue;
    auto [at, fresh] = fixed_.emplace(declared[i].param, wanted);
    if (!fresh && at->second != wanted)
      return bad_shape(input, fmt::format("'{}' is given two sizes", at->first), std::to_string(at->second), std::to_string(wanted));
  }
  return {};
}

}  // namespace tenon::import
