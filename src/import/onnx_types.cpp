// SPDX-License-Identifier: Apache-2.0
#include "import/onnx_types.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace tenon::import {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

bool is_identifier(std::string_view s) {
  return !s.empty() && !std::isdigit(static_cast<unsigned char>(s[0])) && s[0] != '.' && std::ranges::all_of(s, is_word);
}

std::string as_identifier(std::string_view s) {
  std::string out;
  for (char c : s) {
    if (is_word(c)) out += c;
    else if (!out.empty() && out.back() != '_') out += '_';
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  return is_identifier(out) ? out : "d_" + out;
}

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

/// A polynomial in names that other inputs have: nullopt where it mentions anything else.
std::optional<Dim> TypeReader::expression(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string_view word = text.substr(i, end - i);
    if (is_identifier(word) && !params_.contains(word) && word != "min" && word != "max" && word != "floordiv") return std::nullopt;
    i = std::max(end, i + 1);
  }
  auto parsed = symbols_.parse(text);
  if (!parsed || parsed->is_overflow()) return std::nullopt;
  return substitute(*parsed, [&](const DimNode& s) {
    auto at = params_.find(s.name);
    return at == params_.end() ? symbols_.symbol(s.name) : at->second;
  });
}

Dim TypeReader::param(std::string_view name) {
  if (auto at = params_.find(name); at != params_.end()) return at->second;
  Dim d;
  if (auto at = fixed_.find(name); at != fixed_.end()) d = at->second;
  else if (is_identifier(name)) d = symbols_.symbol(name);
  else if (auto e = expression(name)) d = *e;
  else d = symbols_.fresh(as_identifier(name) + "_");
  params_.emplace(name, d);
  return d;
}

Result<Dim> TypeReader::dim(const OnnxDim& d, std::string_view name) {
  if (d.value && *d.value >= 0) {
    if (*d.value > int64_t{1} << 40)
      return fail(Code::size_overflow, fmt::format("value '{}'", name), "a size is too large")
          .expected("at most 2^40")
          .found(std::to_string(*d.value));
    return Dim(*d.value);
  }
  if (!d.param.empty() && d.param != "?") return param(d.param);
  return symbols_.fresh();
}

namespace {

Result<ir::Type::Kind> kind_of(OnnxType::Kind kind, const std::string& place) {
  switch (kind) {
    case OnnxType::Kind::map: return ir::Type::Kind::map;
    case OnnxType::Kind::sequence_of_maps: return ir::Type::Kind::sequence_of_maps;
    case OnnxType::Kind::sequence: return ir::Type::Kind::sequence;
    case OnnxType::Kind::optional: return ir::Type::Kind::optional;
    case OnnxType::Kind::optional_sequence: return ir::Type::Kind::optional_sequence;
    case OnnxType::Kind::none:
    case OnnxType::Kind::tensor: break;
    case OnnxType::Kind::other:
      return fail(Code::not_supported, place, "not supported yet: sparse and nested sequence types")
          .expected("a tensor, a sequence or an optional of tensors, a map, or a sequence of maps")
          .found("another type");
  }
  return ir::Type().kind;
}

Result<DType> key_of(int64_t element, const std::string& place) {
  const auto key = dtype_from_onnx(element);
  if (key != DType::i64 && key != DType::string)
    return fail(Code::not_supported, place, fmt::format("not supported yet: a map with keys of ONNX element type {}", element))
        .expected("int64 or string");
  return *key;
}

}  // namespace

Result<ir::Type> TypeReader::type(const OnnxType& t, std::string_view name) {
  ir::Type out;
  const std::string place = fmt::format("value '{}'", name);
  if (t.kind == OnnxType::Kind::none) return out;
  out.kind = TRY(kind_of(t.kind, place));
  const auto dtype = t.element == 0 ? std::optional(DType::none) : dtype_from_onnx(t.element);
  if (!dtype)
    return fail(Code::not_supported, place, fmt::format("not supported yet: ONNX element type {}", t.element))
        .expected("an element type of docs/element-types.md")
        .found(std::to_string(t.element));
  out.dtype = *dtype;
  if (out.is_map()) {
    out.key = TRY(key_of(t.key, place));
    return out;
  }
  if (!t.shape) return out;
  out.shape.emplace();
  // Every tensor that the value holds has sizes of its own: a name says nothing of them.
  for (const OnnxDim& d : *t.shape) out.shape->push_back(TRY(dim(out.is_tensor() || d.value ? d : OnnxDim(), name)));
  return out;
}

Result<ir::Type> TypeReader::input_type(const OnnxValueInfo& info) {
  ir::Type out = TRY(type(info.type, info.name));
  if (out.dtype == DType::none)
    return fail(Code::bad_graph, fmt::format("input '{}'", info.name), "the input has no element type")
        .expected("a type: float, int64, ...")
        .found(out.text())
        .advice("declare the type of each input; onnx.checker.check_model names those that lack it");
  auto at = requests_.find(info.name);
  if (at == requests_.end()) return out;
  const auto& dims = at->second.dims;
  if (!out.shape) {
    out.shape.emplace();
    for (size_t i = 0; i < dims.size(); ++i) out.shape->push_back(symbols_.fresh());
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].size) (*out.shape)[i] = *dims[i].size;
    else if (!dims[i].symbol.empty()) (*out.shape)[i] = param(dims[i].symbol);
  }
  return out;
}

}  // namespace tenon::import
