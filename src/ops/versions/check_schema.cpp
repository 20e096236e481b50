// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "ops/core/random_streams.h"
#include "ops/core/refuse.h"
#include "ops/versions/onnx_schema.h"

namespace tenon::ops {
namespace {

Error schema_violation(const NodeView& view, const OnnxSchema& schema, std::string what) {
  return refuse(view, Code::not_supported,
                fmt::format("cannot be written as version {} of {}: {}", schema.since, schema.name, std::move(what)));
}

/// The parameter at place `k`; a variadic one covers all from its place on. null: there is none.
const OnnxParameter* schema_parameter(const std::vector<OnnxParameter>& list, size_t k) {
  if (k < list.size()) return &list[k];
  return !list.empty() && list.back().option == OnnxParameter::Option::variadic ? &list.back() : nullptr;
}

bool ends_variadic(const std::vector<OnnxParameter>& list) {
  return !list.empty() && list.back().option == OnnxParameter::Option::variadic;
}

Result<void> check_schema_arity(const NodeView& view, const OnnxSchema& schema, std::string_view what, size_t found, size_t least,
                                const std::vector<OnnxParameter>& list) {
  if (found >= least && (found <= list.size() || ends_variadic(list))) return {};
  return schema_violation(view, schema, fmt::format("the number of {}", what))
      .expected(ends_variadic(list) ? fmt::format("{} or more", least) : fmt::format("{} to {}", least, list.size()))
      .found(std::to_string(found));
}

/// Types that the variables of a schema stand for at one node.
using Bound = std::vector<std::pair<std::string_view, const ir::Type*>>;

Result<void> check_schema_type(const NodeView& view, const OnnxSchema& schema, const OnnxParameter& parameter, const ir::Type& type,
                               Bound& bound) {
  if (!parameter.types.contains(type))
    return schema_violation(view, schema, fmt::format("the type of '{}'", parameter.name))
        .expected(parameter.types.text())
        .found(type.text());
  if (parameter.variable.empty() || !parameter.homogeneous || type.dtype == DType::none) return {};
  const auto known = std::ranges::find(bound, parameter.variable, &Bound::value_type::first);
  if (known == bound.end()) {
    bound.emplace_back(parameter.variable, &type);
  } else if (known->second->dtype != type.dtype || known->second->kind != type.kind) {
    return schema_violation(view, schema, fmt::format("the type of '{}'", parameter.name))
        .expected(known->second->text())
        .found(type.text());
  }
  return {};
}

Result<void> check_schema_values(const NodeView& view, const OnnxSchema& schema, size_t inputs, size_t outputs) {
  Bound bound;
  for (size_t k = 0; k < inputs; ++k) {
    const OnnxParameter& parameter = *schema_parameter(schema.inputs, k);
    const bool present = k < view.explicit_inputs && view.has(k);
    if (!present && parameter.option == OnnxParameter::Option::single)
      return schema_violation(view, schema, fmt::format("operand '{}' is missing", parameter.name)).expected("a value").found("none");
    if (present) TRY(check_schema_type(view, schema, parameter, view.type(k), bound));
  }
  for (size_t k = 0; k < std::min(outputs, view.outputs.size()); ++k)
    TRY(check_schema_type(view, schema, *schema_parameter(schema.outputs, k), view.outputs[k], bound));
  return {};
}

/// Whether the attribute has the kind of the schema. A type is stored as text, and an empty list is of every list kind.
bool is_of_schema_kind(const ir::Attribute& value, std::string_view kind) {
  constexpr std::string_view kKinds[] = {"int", "float", "string", "ints", "floats", "strings", "tensor"};
  if (kind == "type_proto") return std::holds_alternative<std::string>(value);
  if (const auto* ints = std::get_if<ir::Ints>(&value); ints && ints->empty()) return kind.ends_with('s');
  return value.index() < std::size(kKinds) && kKinds[value.index()] == kind;
}

Result<void> check_schema_attributes(const NodeView& view, const OnnxSchema& schema) {
  for (const auto& [name, value] : *view.attributes) {
    if (name == kStreamAttribute && has_stream(*view.op)) continue;  // export leaves it out
    const auto spec = std::ranges::find(schema.attributes, std::string_view(name), &OnnxAttributeSchema::name);
    if (spec == schema.attributes.end()) return schema_violation(view, schema, fmt::format("it has no attribute '{}'", name));
    if (!is_of_schema_kind(value, spec->kind))
      return schema_violation(view, schema, fmt::format("the kind of attribute '{}'", name))
          .expected(std::string(spec->kind))
          .found(ir::text_of(value));
  }
  for (const OnnxAttributeSchema& spec : schema.attributes) {
    const bool present = view.attributes->has(spec.name) || std::ranges::find(view.body_names, spec.name) != view.body_names.end();
    if (spec.required && !present) return schema_violation(view, schema, fmt::format("attribute '{}' is missing", spec.name));
  }
  return {};
}

}  // namespace

Result<void> check_schema(const OnnxSchema& schema, const NodeView& view, size_t inputs, size_t outputs) {
  if (schema.deprecated)
    return refuse(view, Code::not_supported, fmt::format("cannot be written: opset {} has no {}", schema.since, schema.name));
  TRY(check_schema_arity(view, schema, "operands", inputs, schema.least_inputs, schema.inputs));
  TRY(check_schema_arity(view, schema, "results", outputs, schema.least_outputs, schema.outputs));
  TRY(check_schema_values(view, schema, inputs, outputs));
  return check_schema_attributes(view, schema);
}

}  // namespace tenon::ops
