// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "base/nearest.h"
#include "ops/core/schema.h"
#include "ops/plugin/plugin_op.h"

namespace tenon::ops {

namespace {

using plugin::Field;

/// Makes a field of a list of numbers.
template <class Number>
Result<Field> numbers(const tenon_field_rule& rule, std::span<const Number> values) {
  Field out{rule.name, rule.type, static_cast<int64_t>(values.size()), {}};
  for (const Number v : values) out.bytes += TRY(plugin::scalar_field(rule.name, rule.type, static_cast<double>(v))).bytes;
  return out;
}

Result<Field> integers(const tenon_field_rule& rule, std::span<const int64_t> values) {
  if (rule.type != TENON_FIELD_I64) return numbers(rule, values);
  return Field{rule.name, TENON_FIELD_I64, static_cast<int64_t>(values.size()),
               std::string(reinterpret_cast<const char*>(values.data()), values.size_bytes())};
}

Result<Field> tensor_field(const tenon_field_rule& rule, const Tensor& t) {
  const std::string bytes(reinterpret_cast<const char*>(t.data()), static_cast<size_t>(t.byte_size()));
  const int64_t each = plugin::bytes_of_field(rule.type, 1);
  const int64_t length = rule.type == TENON_FIELD_I4 || rule.type == TENON_FIELD_FP4 ? t.count() : t.byte_size() / each;
  if (plugin::bytes_of_field(rule.type, length) != t.byte_size())
    return fail(Code::bad_attribute, "", "its bytes are no whole number of elements");
  return Field{rule.name, rule.type, length, bytes};
}

Result<Field> field_from(const tenon_field_rule& rule, const ir::Attribute& given) {
  const bool is_text = rule.type == TENON_FIELD_CHAR;
  if (const auto* text = std::get_if<std::string>(&given); text && is_text)
    return Field{rule.name, TENON_FIELD_CHAR, static_cast<int64_t>(text->size()), *text};
  const bool takes_numbers = !is_text && rule.type != TENON_FIELD_DIMS && rule.type != TENON_FIELD_BYTES;
  if (takes_numbers) {
    if (const auto* one = std::get_if<int64_t>(&given)) return integers(rule, {one, 1});
    if (const auto* one = std::get_if<float>(&given)) return numbers<float>(rule, {one, 1});
    if (const auto* many = std::get_if<ir::Ints>(&given)) return integers(rule, *many);
    if (const auto* many = std::get_if<ir::Floats>(&given)) return numbers<float>(rule, *many);
  }
  if (const auto* tensor = std::get_if<Tensor>(&given); tensor && tensor->has_bytes()) return tensor_field(rule, *tensor);
  return fail(Code::bad_attribute, "", "it is of another kind");
}

/// The problem of a value, as a message; empty: none.
std::string wrong_with(const tenon_field_rule& rule, const Field& field) {
  if (rule.length >= 0 && rule.type != TENON_FIELD_CHAR && field.length != rule.length)
    return fmt::format("it has {} elements, not {}", field.length, rule.length);
  for (int64_t k = 0; rule.has_range && k < field.length; ++k)
    if (const double v = plugin::number_of(field, k); !(v >= rule.least && v <= rule.most))
      return fmt::format("{} is not in {} .. {}", v, rule.least, rule.most);
  if (!rule.choices) return {};
  std::vector<std::string_view> choices;
  for (const char* const* c = rule.choices; *c; ++c) choices.emplace_back(*c);
  if (std::ranges::find(choices, std::string_view(field.bytes)) != choices.end()) return {};
  return fmt::format("'{}' is none of {}", field.bytes, fmt::join(choices, ", "));
}

/// Attributes that select the plugin and are not passed to it.
bool names_the_plugin(std::string_view attribute) { return attribute == "plugin_namespace" || attribute == "plugin_version"; }

/// The type of a field that no rule declares: the attribute's own.
int32_t type_of(const ir::Attribute& given) {
  if (std::holds_alternative<std::string>(given)) return TENON_FIELD_CHAR;
  if (std::holds_alternative<float>(given) || std::holds_alternative<ir::Floats>(given)) return TENON_FIELD_F32;
  const auto* const tensor = std::get_if<Tensor>(&given);
  if (!tensor) return TENON_FIELD_I64;
  switch (tensor->dtype()) {
    case DType::f16: return TENON_FIELD_F16;
    case DType::f32: return TENON_FIELD_F32;
    case DType::f64: return TENON_FIELD_F64;
    case DType::i8: return TENON_FIELD_I8;
    case DType::i16: return TENON_FIELD_I16;
    case DType::i32: return TENON_FIELD_I32;
    case DType::i64: return TENON_FIELD_I64;
    case DType::bf16: return TENON_FIELD_BF16;
    default: return TENON_FIELD_BYTES;
  }
}

Result<Field> undeclared(const std::string& name, const ir::Attribute& given) {
  tenon_field_rule rule{};
  rule.name = name.c_str();
  rule.type = type_of(given);
  rule.length = -1;
  return field_from(rule, given);
}

std::string unknown(std::string_view name, const plugin::Op& op) {
  std::vector<std::string_view> known;
  for (const tenon_field_rule& rule : op.fields) known.emplace_back(rule.name);
  const std::string near = nearest_name(name, known);
  return fmt::format("there is no field '{}'{}", name, near.empty() ? "" : ", did you mean '" + near + "'?");
}

}  // namespace

Field default_of(const tenon_field_rule& rule) {
  const auto* const text = static_cast<const char*>(rule.otherwise);
  const int64_t length = rule.type == TENON_FIELD_CHAR ? static_cast<int64_t>(std::string_view(text).size()) : rule.length;
  return {rule.name, rule.type, length, std::string(text, static_cast<size_t>(plugin::bytes_of_field(rule.type, length)))};
}

ir::Attribute attribute_of(const plugin::Field& f, bool is_list) {
  switch (f.type) {
    case TENON_FIELD_CHAR: return f.bytes;
    case TENON_FIELD_F16:
    case TENON_FIELD_BF16:
    case TENON_FIELD_F32:
    case TENON_FIELD_F64: {
      ir::Floats values;
      for (int64_t k = 0; k < f.length; ++k) values.push_back(static_cast<float>(plugin::number_of(f, k)));
      return f.length == 1 && !is_list ? ir::Attribute(values[0]) : ir::Attribute(std::move(values));
    }
    case TENON_FIELD_I8:
    case TENON_FIELD_I16:
    case TENON_FIELD_I32:
    case TENON_FIELD_I64: {
      ir::Ints values;
      for (int64_t k = 0; k < f.length; ++k) values.push_back(plugin::integer_of(f, k));
      return f.length == 1 && !is_list ? ir::Attribute(values[0]) : ir::Attribute(std::move(values));
    }
    default: {
      Tensor t = *Tensor::make(DType::u8, {static_cast<int64_t>(f.bytes.size())});
      std::ranges::copy(f.bytes, reinterpret_cast<char*>(t.mutable_data()));
      return t;
    }
  }
}

Result<std::vector<Field>> fields_of(const NodeView& view, const plugin::Op& op) {
  std::vector<Field> out;
  std::vector<std::string> wrong;
  const ir::Attribute* const version = view.attributes->find("plugin_version");
  if (const auto* text = version ? std::get_if<std::string>(version) : nullptr; text && !text->empty() && *text != op.version)
    wrong.push_back(fmt::format("plugin_version = '{}': this is version {}", *text, op.version));
  for (const tenon_field_rule& rule : op.fields) {
    const ir::Attribute* const given = view.attributes->find(rule.name);
    if (!given && !rule.otherwise && rule.optional) continue;
    if (!given && !rule.otherwise) {
      wrong.push_back(fmt::format("field '{}' ({}) is missing", rule.name, plugin::name_of_type(rule.type)));
      continue;
    }
    auto field = given ? field_from(rule, *given) : default_of(rule);
    const std::string fault = field ? wrong_with(rule, *field) : field.error()->what;
    if (fault.empty()) out.push_back(*std::move(field));
    else
      wrong.push_back(fmt::format("field '{}' ({}) = {}: {}", rule.name, plugin::name_of_type(rule.type),
                                  given ? ir::text_of(*given) : "default", fault));
  }
  for (const auto& [name, value] : *view.attributes) {
    if (names_the_plugin(name) || std::ranges::find(op.fields, std::string_view(name), &tenon_field_rule::name) != op.fields.end())
      continue;
    if (!op.table.any_fields) {
      wrong.push_back(unknown(name, op));
      continue;
    }
    auto field = undeclared(name, value);
    if (field) out.push_back(*std::move(field));
    else wrong.push_back(fmt::format("field '{}' = {}: {}", name, ir::text_of(value), field.error()->what));
  }
  if (wrong.empty()) return out;
  return fail(Code::bad_attribute, fmt::format("{}, {}", view.where(), op.place()), "its fields are not what the plugin takes")
      .expected(op.fields.empty() ? "no fields" : "the fields that `tenon plugin show` lists")
      .found(fmt::format("{}", fmt::join(wrong, "\n            ")))
      .advice("mend the node's attributes");
}

namespace {

template <class Number>
Field field_of(std::string_view name, int32_t type, std::span<const Number> values) {
  return {std::string(name), type, static_cast<int64_t>(values.size()),
          std::string(reinterpret_cast<const char*>(values.data()), values.size_bytes())};
}

std::optional<Field> as_field(std::string_view name, const ir::Attribute& value) {
  if (const auto* one = std::get_if<int64_t>(&value)) return field_of<int64_t>(name, TENON_FIELD_I64, {one, 1});
  if (const auto* one = std::get_if<float>(&value)) return field_of<float>(name, TENON_FIELD_F32, {one, 1});
  if (const auto* many = std::get_if<ir::Ints>(&value)) return field_of<int64_t>(name, TENON_FIELD_I64, *many);
  if (const auto* many = std::get_if<ir::Floats>(&value)) return field_of<float>(name, TENON_FIELD_F32, *many);
  if (const auto* text = std::get_if<std::string>(&value)) return field_of<char>(name, TENON_FIELD_CHAR, *text);
  return std::nullopt;
}

std::optional<Field> default_as_field(const AttributeSpec& spec) {
  if (spec.default_text.empty()) return std::nullopt;
  const std::string text(spec.default_text);
  if (spec.kind == AttributeSpec::Kind::integer) return as_field(spec.name, static_cast<int64_t>(std::strtoll(text.c_str(), nullptr, 10)));
  if (spec.kind == AttributeSpec::Kind::number) return as_field(spec.name, std::strtof(text.c_str(), nullptr));
  if (spec.kind == AttributeSpec::Kind::text) return as_field(spec.name, text);
  return std::nullopt;
}

}  // namespace

std::vector<Field> attributes_as_fields(const NodeView& view) {
  std::vector<Field> out;
  for (const AttributeSpec& spec : attribute_specs(def_of(*view.op))) {
    const ir::Attribute* const given = view.attributes->find(spec.name);
    if (auto field = given ? as_field(spec.name, *given) : default_as_field(spec)) out.push_back(*std::move(field));
  }
  return out;
}

}  // namespace tenon::ops
