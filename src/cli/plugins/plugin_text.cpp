// SPDX-License-Identifier: Apache-2.0
#include "cli/plugins/plugin_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/dtype.h"
#include "plugin/public/plugins.h"

namespace tenon::cli {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> dtypes_of(const tenon_port& port) {
  std::vector<std::string> out;
  for (int32_t bit = 0; bit < 32; ++bit)
    if (port.dtypes & TENON_DTYPE_BIT(bit)) out.emplace_back(name_of(static_cast<DType>(bit)));
  return out;
}

std::vector<std::string> functions_of(const plugin::Op& op) {
  std::vector<std::string> out;
  const tenon_op& t = op.table;
  const auto note = [&](bool there, const char* name) {
    if (there) out.emplace_back(name);
  };
  note(t.create, "create");
  note(t.destroy, "destroy");
  note(t.infer, "infer");
  note(t.define, "define");
  note(t.supports, "supports");
  note(t.configure, "configure");
  note(t.tactics, "tactics");
  note(t.workspace, "workspace");
  note(t.save, "save");
  note(t.add_graphs, "add_graphs");
  note(t.attach, "attach");
  note(t.shapes_changed, "shapes_changed");
  note(t.enqueue, "enqueue");
  return out;
}

std::vector<std::string> choices_of(const tenon_field_rule& rule) {
  std::vector<std::string> out;
  for (const char* const* c = rule.choices; c && *c; ++c) out.emplace_back(*c);
  return out;
}

/// The default of a field that has one, as text.
std::string default_of(const tenon_field_rule& rule) {
  if (rule.type == TENON_FIELD_CHAR) return static_cast<const char*>(rule.otherwise);
  const auto field = plugin::copy_of(
      {.struct_size = sizeof(tenon_field), .name = rule.name, .type = rule.type, .length = rule.length, .data = rule.otherwise});
  if (!plugin::holds_numbers(rule.type)) return fmt::format("{} bytes", field->bytes.size());
  std::vector<double> numbers;
  for (int64_t k = 0; k < field->length; ++k) numbers.push_back(plugin::number_of(*field, k));
  return rule.length == 1 ? fmt::format("{}", numbers[0]) : fmt::format("[{}]", fmt::join(numbers, ", "));
}

std::string type_of(const tenon_field_rule& rule) {
  const std::string name(plugin::name_of_type(rule.type));
  if (rule.length == 1 || rule.type == TENON_FIELD_CHAR) return name;
  return rule.length < 0 ? name + "[]" : fmt::format("{}[{}]", name, rule.length);
}

std::string line_of(const tenon_field_rule& rule) {
  std::string out = fmt::format("{}: {}", rule.name, type_of(rule));
  out += rule.otherwise ? fmt::format(" = {}", default_of(rule)) : rule.optional ? ", may be missing" : ", must be given";
  if (rule.has_range) out += fmt::format(", {} .. {}", rule.least, rule.most);
  if (rule.choices) out += fmt::format(", one of {}", fmt::join(choices_of(rule), ", "));
  if (rule.docs) out += fmt::format(" ({})", rule.docs);
  return out;
}

std::string line_of(const tenon_port& port, const plugin::Op& op) {
  const auto dtypes = dtypes_of(port);
  std::string out = fmt::format("{}: {}", port.name, dtypes.empty() ? "any dtype" : fmt::format("{}", fmt::join(dtypes, " or ")));
  if (port.variadic) out += ", one or more";
  if (port.optional) out += ", may be missing";
  if (port.in_place) out += fmt::format(", may take the memory of {}", op.operands[static_cast<size_t>(port.in_place - 1)].name);
  return out;
}

Json json_of(const tenon_port& port) {
  return {{"name", port.name},
          {"dtypes", dtypes_of(port)},
          {"optional", port.optional != 0},
          {"variadic", port.variadic != 0},
          {"in_place", port.in_place - 1}};
}

Json json_of(const tenon_field_rule& rule) {
  Json out{{"name", rule.name}, {"type", type_of(rule)}, {"required", !rule.otherwise && !rule.optional}};
  if (rule.otherwise) out["default"] = default_of(rule);
  if (rule.has_range) out["range"] = {rule.least, rule.most};
  if (rule.choices) out["choices"] = choices_of(rule);
  if (rule.docs) out["docs"] = rule.docs;
  return out;
}

template <class Item>
Json all_of(const std::vector<Item>& items) {
  Json out = Json::array();
  for (const Item& item : items) out.push_back(json_of(item));
  return out;
}

std::string definition_of(const plugin::Op& op) {
  if (op.table.expression) return op.table.expression;
  return op.table.define ? "written by its `define`" : "none";
}

}  // namespace

std::string names_of(const std::vector<tenon_port>& ports) {
  std::vector<std::string> out;
  for (const tenon_port& p : ports) out.push_back(fmt::format("{}{}", p.name, p.variadic ? "*" : p.optional ? "?" : ""));
  return fmt::format("{}", fmt::join(out, ", "));
}

std::string computed_by(const plugin::Op& op) {
  if (!op.runs()) return "definition";
  return op.has_definition() ? "own and definition" : "own";
}

std::vector<std::string> declaration_lines(const plugin::Op& op) {
  std::vector<std::string> out{op.key()};
  if (op.table.docs) out.push_back(fmt::format("  {}", op.table.docs));
  if (op.table.kernel_of) out.push_back(fmt::format("  one more kernel of {}", op.table.kernel_of));
  for (const tenon_port& p : op.operands) out.push_back(fmt::format("  operand     {}", line_of(p, op)));
  for (const tenon_port& p : op.results) out.push_back(fmt::format("  result      {}", line_of(p, op)));
  for (const tenon_field_rule& f : op.fields) out.push_back(fmt::format("  field       {}", line_of(f)));
  return out;
}

std::vector<std::string> lines_of(const plugin::Op& op) {
  std::vector<std::string> out = declaration_lines(op);
  for (const std::string& sample : op.samples) out.push_back(fmt::format("  sample      {}", sample));
  out.push_back(fmt::format("  definition  {}", definition_of(op)));
  out.push_back(fmt::format("  functions   {}", fmt::join(functions_of(op), ", ")));
  if (op.table.any_fields) out.emplace_back("  takes attributes that it does not list too");
  if (op.table.has_effects) out.emplace_back("  its runs keep their order, and none is left out");
  if (op.table.is_random) out.emplace_back("  equal operands may give other results");
  return out;
}

Json json_of(const plugin::Op& op) {
  Json out{{"namespace", op.name_space}, {"name", op.name}, {"version", op.version}, {"docs", op.table.docs ? op.table.docs : ""}};
  out["operands"] = all_of(op.operands);
  out["results"] = all_of(op.results);
  out["fields"] = all_of(op.fields);
  out["samples"] = op.samples;
  out["functions"] = functions_of(op);
  if (op.has_definition()) out["definition"] = definition_of(op);
  if (op.table.kernel_of) out["kernel_of"] = op.table.kernel_of;
  out["any_fields"] = op.table.any_fields != 0;
  out["has_effects"] = op.table.has_effects != 0;
  out["is_random"] = op.table.is_random != 0;
  return out;
}

Json json_of(const plugin::Library& library) {
  Json out{{"name", library.name}, {"file", library.file.string()}, {"version", library.version}};
  out["needs"] = library.needs;
  out["sha256"] = library.sha256;
  out["ops"] = Json::array();
  for (const plugin::Op& op : library.ops) out["ops"].push_back(json_of(op));
  return out;
}

}  // namespace tenon::cli
