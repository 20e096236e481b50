// SPDX-License-Identifier: Apache-2.0
#include "ops/versions/onnx_schema.h"

#include <algorithm>
#include <charconv>

namespace tenon::ops {
namespace {

constexpr std::string_view kText =
#include "ops/versions/onnx_schemas.inc"
    ;

/// Names for sets of element types, as tools/make_onnx_schemas.py writes them.
constexpr std::pair<std::string_view, std::string_view> kSets[] = {
    {"all", "u8 u16 u32 u64 i8 i16 i32 i64 f16 f32 f64 bool string c64 c128"},
    {"num", "u8 u16 u32 u64 i8 i16 i32 i64 f16 f32 f64"},
    {"uint", "u8 u16 u32 u64"},
    {"int", "i8 i16 i32 i64"},
    {"f8", "f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz"},
    {"float", "f16 f32 f64"},
};

/// The text before the first `separator`; `text` keeps what follows it.
std::string_view take_before(std::string_view& text, std::string_view separator) {
  const size_t at = text.find(separator);
  const std::string_view head = text.substr(0, at);
  text = at == text.npos ? std::string_view() : text.substr(at + separator.size());
  return head;
}

std::vector<std::string_view> split_words(std::string_view text, std::string_view separator = " ") {
  std::vector<std::string_view> out;
  while (!text.empty())
    if (const std::string_view word = trimmed(take_before(text, separator)); !word.empty()) out.push_back(word);
  return out;
}

int parsed_number(std::string_view text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

uint64_t elements_named(std::string_view word) {
  for (const auto& [name, members] : kSets) {
    if (word != name) continue;
    uint64_t out = 0;
    for (std::string_view member : split_words(members)) out |= elements_named(member);
    return out;
  }
  const auto dtype = dtype_named(word);
  TENON_ASSERT(dtype);
  return uint64_t{1} << static_cast<unsigned>(*dtype);
}

/// Takes "wrapper(" and its ")" off.
bool strip_wrapper(std::string_view& word, std::string_view wrapper) {
  if (!word.starts_with(wrapper)) return false;
  word = word.substr(wrapper.size(), word.size() - wrapper.size() - 1);
  return true;
}

constexpr size_t kStringKeys = 6 - static_cast<size_t>(ValueKind::map);  ///< maps with string keys are this much further

size_t elements_index(ValueKind kind, bool string_keys) { return static_cast<size_t>(kind) + (string_keys ? kStringKeys : 0); }

OnnxParameter parse_parameter(std::string_view text, const std::map<std::string_view, std::string_view>& variables) {
  OnnxParameter out;
  const std::string_view type = text.substr(text.find(':') + 1);
  out.name = text.substr(0, text.find_first_of("?*:"));
  const std::string_view suffix = text.substr(out.name.size());
  if (suffix.starts_with('?')) out.option = OnnxParameter::Option::optional;
  if (suffix.starts_with('*')) out.option = OnnxParameter::Option::variadic;
  out.homogeneous = !suffix.starts_with("**");
  if (type.starts_with('[')) {
    out.types = TypeSet::parse(type.substr(1, type.size() - 2));
  } else {
    out.variable = type;
    out.types = TypeSet::parse(variables.at(type));
  }
  return out;
}

OnnxSchema parse_schema(std::string_view line) {
  OnnxSchema out;
  const std::vector<std::string_view> head = split_words(take_before(line, "|"));
  out.domain = head[0] == "-" ? std::string_view() : head[0];
  out.name = head[1];
  out.since = parsed_number(head[2]);
  out.deprecated = head[3] == "deprecated";
  if (out.deprecated) return out;
  out.least_inputs = static_cast<size_t>(parsed_number(head[3]));
  out.least_outputs = static_cast<size_t>(parsed_number(head[4]));
  const std::string_view inputs = take_before(line, "|"), outputs = take_before(line, "|"), attributes = take_before(line, "|");
  std::map<std::string_view, std::string_view> variables;
  for (std::string_view constraint : split_words(line, ";")) {
    const std::string_view name = trimmed(take_before(constraint, "="));
    variables[name] = constraint;
  }
  for (std::string_view word : split_words(inputs)) out.inputs.push_back(parse_parameter(word, variables));
  for (std::string_view word : split_words(outputs)) out.outputs.push_back(parse_parameter(word, variables));
  for (std::string_view word : split_words(attributes)) {
    const std::string_view name = take_before(word, ":");
    const bool required = word.ends_with('!');
    out.attributes.push_back({name, word.substr(0, word.size() - (required ? 1 : 0)), required});
  }
  return out;
}

using Table = std::map<std::pair<std::string_view, std::string_view>, std::vector<OnnxSchema>>;

const Table& table_of_schemas() {
  static const Table table = [] {
    Table out;
    for (std::string_view line : split_words(kText, "\n")) {
      OnnxSchema schema = parse_schema(line);
      out[{schema.domain, schema.name}].push_back(std::move(schema));
    }
    return out;
  }();
  return table;
}

/// The parameter that operand `index` of the newest version is in another version; null: an attribute, or nothing.
const OnnxParameter* same_parameter(const OnnxSchema& newest, const OnnxSchema& other, size_t index) {
  const auto of = [](const std::vector<OnnxParameter>& list, size_t k) -> const OnnxParameter* {
    if (k < list.size()) return &list[k];
    return !list.empty() && list.back().option == OnnxParameter::Option::variadic ? &list.back() : nullptr;
  };
  const OnnxParameter* const wanted = of(newest.inputs, index);
  if (!wanted) return nullptr;
  const auto named = std::ranges::find(other.inputs, wanted->name, &OnnxParameter::name);
  if (named != other.inputs.end()) return &*named;
  return newest.inputs.size() == other.inputs.size() ? of(other.inputs, index) : nullptr;
}

const OnnxSchema* newest_schema(const ir::Op& op) {
  const OnnxSchema* newest = nullptr;
  for (const OnnxSchema& schema : onnx_schemas(op.domain, op.name))
    if (!schema.deprecated) newest = &schema;
  return newest;
}

bool allows_types(const OnnxSchema& newest, const OnnxSchema& schema, const NodeView& view) {
  for (size_t k = 0; k < view.explicit_inputs; ++k) {
    const OnnxParameter* const parameter = view.has(k) ? same_parameter(newest, schema, k) : nullptr;
    if (parameter && !parameter->types.contains(view.type(k))) return false;
  }
  for (size_t k = 0; k < view.outputs.size() && !schema.outputs.empty(); ++k)
    if (!schema.outputs[std::min(k, schema.outputs.size() - 1)].types.contains(view.outputs[k])) return false;
  return true;
}

}  // namespace

TypeSet TypeSet::parse(std::string_view text) {
  TypeSet out;
  out.text_ = std::string(trimmed(text));
  for (std::string_view word : split_words(text)) out.add(word);
  return out;
}

void TypeSet::add(std::string_view word) {
  const bool optional = strip_wrapper(word, "opt("), sequence = strip_wrapper(word, "seq(");
  if (strip_wrapper(word, "map(")) {
    const bool string_keys = take_before(word, ",") == "string";
    elements_[elements_index(sequence ? ValueKind::sequence_of_maps : ValueKind::map, string_keys)] |= elements_named(word);
    return;
  }
  const ValueKind plain = sequence ? ValueKind::sequence : ValueKind::tensor;
  const ValueKind optional_kind = sequence ? ValueKind::optional_sequence : ValueKind::optional;
  elements_[elements_index(optional ? optional_kind : plain, false)] |= elements_named(word);
}

bool TypeSet::contains(const ir::Type& type) const {
  if (type.dtype == DType::none) return true;
  return (elements_[elements_index(type.kind, type.is_map() && type.key == DType::string)] >> static_cast<unsigned>(type.dtype) & 1) != 0;
}

std::span<const OnnxSchema> onnx_schemas(std::string_view domain, std::string_view name) {
  const auto at = table_of_schemas().find({domain, name});
  return at == table_of_schemas().end() ? std::span<const OnnxSchema>() : at->second;
}

const OnnxSchema* onnx_schema(std::string_view domain, std::string_view name, int64_t opset) {
  const OnnxSchema* found = nullptr;
  for (const OnnxSchema& schema : onnx_schemas(domain, name))
    if (schema.since <= opset) found = &schema;
  return found;
}

const TypeSet* types_of_operand(const ir::Op& op, int64_t opset, size_t index) {
  const OnnxSchema *const newest = newest_schema(op), *const schema = onnx_schema(op.domain, op.name, opset);
  if (!newest || !schema || schema->deprecated) return nullptr;
  const OnnxParameter* const parameter = same_parameter(*newest, *schema, index);
  return parameter ? &parameter->types : nullptr;
}

std::optional<int> lowest_opset_of_types(const NodeView& view) {
  constexpr int kOldest = 7;
  const std::span<const OnnxSchema> versions = onnx_schemas(view.op->domain, view.op->name);
  const OnnxSchema* const newest = newest_schema(*view.op);
  if (!newest) return kOldest;
  for (const OnnxSchema& schema : versions)
    if (!schema.deprecated && allows_types(*newest, schema, view)) return std::max(kOldest, schema.since);
  return std::nullopt;
}

}  // namespace tenon::ops
