// SPDX-License-Identifier: Apache-2.0
#include "ops/core/schema.h"

#include <algorithm>
#include <charconv>

#include "ops/core/refuse.h"

namespace tenon::ops {

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

namespace {

constexpr std::string_view kKindNames[] = {"int", "float", "string", "ints", "floats", "strings", "tensor", "graph", "type"};

/// The text form and files do not store the kind of an empty list.
bool is_empty_list(const ir::Attribute& a) {
  const auto* ints = std::get_if<ir::Ints>(&a);
  const auto* floats = std::get_if<ir::Floats>(&a);
  const auto* strings = std::get_if<ir::Strings>(&a);
  return (ints && ints->empty()) || (floats && floats->empty()) || (strings && strings->empty());
}

bool is_of_kind(const ir::Attribute& a, AttributeSpec::Kind kind) {
  const bool list = kind == AttributeSpec::Kind::ints || kind == AttributeSpec::Kind::floats || kind == AttributeSpec::Kind::strings;
  if (kind == AttributeSpec::Kind::type) return std::holds_alternative<std::string>(a);
  return a.index() == static_cast<size_t>(kind) || (list && is_empty_list(a));
}

}  // namespace

std::string_view name_of(AttributeSpec::Kind kind) { return kKindNames[static_cast<size_t>(kind)]; }

AttributeSpec parse_attribute_spec(std::string_view line) {
  AttributeSpec spec;
  const size_t colon = line.find(':');
  TENON_ASSERT(colon != line.npos);
  spec.name = trimmed(line.substr(0, colon));
  std::string_view rest = line.substr(colon + 1);
  constexpr std::string_view kSince = " since ";
  if (const size_t since = rest.find(kSince); since != rest.npos) {
    const std::string_view number = rest.substr(since + kSince.size());
    std::from_chars(number.data(), number.data() + number.size(), spec.since);
    rest = rest.substr(0, since);
  }
  if (const size_t equals = rest.find('='); equals != rest.npos) {
    spec.default_text = trimmed(rest.substr(equals + 1));
    rest = rest.substr(0, equals);
  }
  rest = trimmed(rest);
  if (!rest.empty() && rest.back() == '!') {
    spec.required = true;
    rest.remove_suffix(1);
  }
  const auto* at = std::find(std::begin(kKindNames), std::end(kKindNames), rest);
  TENON_ASSERT(at != std::end(kKindNames));
  spec.kind = static_cast<AttributeSpec::Kind>(at - std::begin(kKindNames));
  return spec;
}

bool is_default_value(const AttributeSpec& spec, const ir::Attribute& value) {
  if (spec.default_text.empty()) return false;
  if (const auto* text = std::get_if<std::string>(&value)) return *text == spec.default_text;
  double number = 0;
  std::from_chars(spec.default_text.data(), spec.default_text.data() + spec.default_text.size(), number);
  if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<double>(*integer) == number;
  const auto* real = std::get_if<float>(&value);
  return real && *real == static_cast<float>(number);
}

std::vector<AttributeSpec> attribute_specs(const OpDef& def) {
  std::vector<AttributeSpec> out;
  for (std::string_view line : def.attributes) out.push_back(parse_attribute_spec(line));
  return out;
}

bool may_be_omitted(std::string_view name) { return name.contains('?'); }

bool may_be_omitted(const OpDef& def, const ir::Attributes& attributes, size_t index) {
  const std::string_view name = index < def.outputs.size() ? def.outputs.begin()[index] : "";
  constexpr std::string_view kUnless = "? unless ";
  const size_t unless = name.find(kUnless);
  if (unless == name.npos) return may_be_omitted(name);
  return attributes.integer(name.substr(unless + kUnless.size()), 0) == 0;
}

Arity arity_of(StringList names) {
  Arity arity;
  for (std::string_view name : names) {
    if (name.ends_with('*')) {
      arity.most = -1;
      return arity;
    }
    ++arity.most;
    if (!may_be_omitted(name)) arity.least = arity.most;
  }
  return arity;
}

static Error unknown_attribute(const NodeView& view, const std::string& name, const std::vector<AttributeSpec>& specs) {
  std::string known;
  for (const AttributeSpec& s : specs) known += (known.empty() ? "" : ", ") + std::string(s.name);
  return refuse(view, Code::bad_attribute, "unknown attribute '" + name + "'").expected(known.empty() ? "no attribute" : known);
}

Result<void> check_attributes(const NodeView& view, const std::vector<AttributeSpec>& specs) {
  for (const auto& [name, value] : *view.attributes) {
    const auto spec = std::find_if(specs.begin(), specs.end(), [&](const AttributeSpec& s) { return s.name == name; });
    if (spec == specs.end()) return unknown_attribute(view, name, specs);
    if (!is_of_kind(value, spec->kind)) {
      return refuse(view, Code::bad_attribute, "attribute '" + name + "' has a wrong kind")
          .expected(std::string(name_of(spec->kind)))
          .found(ir::text_of(value));
    }
  }
  for (const AttributeSpec& s : specs) {
    if (s.required && s.kind != AttributeSpec::Kind::graph && !view.attributes->has(s.name)) {
      return refuse(view, Code::bad_attribute, "attribute '" + std::string(s.name) + "' is missing");
    }
  }
  return {};
}

namespace {
Result<void> check_kinds(const NodeView& view, const OpDef& def) {
  for (size_t k = 0; k < view.explicit_inputs && k < view.inputs.size() && !def.accepts_containers; ++k) {
    if (view.has(k) && !view.type(k).is_tensor())
      return refuse(view, Code::dtype_mismatch, "operand " + std::to_string(k) + " is no tensor")
          .expected("a tensor")
          .found(view.type(k).text());
  }
  return {};
}
}  // namespace

Result<void> check_operands(const NodeView& view, const OpDef& def) {
  TRY(check_kinds(view, def));
  const Arity arity = arity_of(def.inputs);
  for (int i = 0; i < arity.least; ++i) {
    const std::string_view name = def.inputs.begin()[i];
    if (!may_be_omitted(name) && !view.has(static_cast<size_t>(i))) {
      return refuse(view, Code::bad_graph, "operand '" + std::string(name) + "' is missing");
    }
  }
  // No operand of a variadic list may be missing; "inputs*" is the last name, at the index of the first of them.
  for (size_t k = def.inputs.size() - 1; arity.most < 0 && k < view.explicit_inputs; ++k)
    if (!view.has(k)) return refuse(view, Code::bad_graph, "operand " + std::to_string(k) + " is missing").expected("a value");
  const bool captures = !view.bodies.empty();
  if (arity.most >= 0 && !captures && view.inputs.size() > static_cast<size_t>(arity.most)) {
    return refuse(view, Code::bad_graph, "too many operands")
        .expected("at most " + std::to_string(arity.most))
        .found(std::to_string(view.inputs.size()));
  }
  const Arity results = arity_of(def.outputs);
  if (results.most >= 0 && view.outputs.size() > static_cast<size_t>(results.most)) {
    return refuse(view, Code::bad_graph, "too many results")
        .expected("at most " + std::to_string(results.most))
        .found(std::to_string(view.outputs.size()));
  }
  return {};
}

}  // namespace tenon::ops
