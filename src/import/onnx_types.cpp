// SPDX-License-Identifier: Apache-2.0
#include "import/onnx_types.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace tenon::import {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

std::string as_identifier(std::string_view s) {
  std::string out;
  for (char c : s) {
    if (is_word(c)) out += c;
    else if (!out.empty() && out.back() != '_') out += '_';
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  return is_identifier(out) ? out : "d_" + out;
}

}  // namespace

bool is_identifier(std::string_view s) {
  return !s.empty() && !std::isdigit(static_cast<unsigned char>(s[0])) && s[0] != '.' && std::ranges::all_of(s, is_word);
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
  // Tensors in a container have independent sizes, so names of dimensions are ignored.
  for (const OnnxDim& d : *t.shape) out.shape->push_back(TRY(dim(out.is_tensor() || d.value ? d : OnnxDim(), name)));
  return out;
}

/// Whether the model states neither number nor name for the dimension.
static bool is_unnamed(const OnnxValueInfo& input, size_t axis) {
  if (!input.type.shape) return true;
  const OnnxDim& declared = (*input.type.shape)[axis];
  return declared.value.value_or(-1) < 0 && (declared.param.empty() || declared.param == "?");
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
    if (dims[i].interval && is_unnamed(info, i)) (*out.shape)[i] = symbols_.fresh("u", dims[i].interval->least, dims[i].interval->most);
    if (dims[i].size) (*out.shape)[i] = *dims[i].size;
    else if (!dims[i].symbol.empty()) (*out.shape)[i] = param(dims[i].symbol);
  }
  return out;
}

}  // namespace tenon::import
