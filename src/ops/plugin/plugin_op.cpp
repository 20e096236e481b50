// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/plugin_op.h"

#include <fmt/format.h>

#include "ops/core/defined_op.h"
#include "ops/plugin/plugin_functions.h"

namespace tenon::ops {

namespace {

std::string_view kind_of(const tenon_field_rule& rule) {
  const bool is_scalar = rule.length == 1;
  switch (rule.type) {
    case TENON_FIELD_CHAR: return "string";
    case TENON_FIELD_F16:
    case TENON_FIELD_BF16:
    case TENON_FIELD_F32:
    case TENON_FIELD_F64: return is_scalar ? "float" : "floats";
    case TENON_FIELD_I8:
    case TENON_FIELD_I16:
    case TENON_FIELD_I32:
    case TENON_FIELD_I64: return is_scalar ? "int" : "ints";
    default: return "tensor";
  }
}

std::string line_of(const tenon_field_rule& rule) {
  const std::string line = fmt::format("{}: {}{}", rule.name, kind_of(rule), rule.otherwise || rule.optional ? "" : "!");
  if (!rule.otherwise) return line;
  if (rule.type == TENON_FIELD_CHAR) return fmt::format("{} = {}", line, static_cast<const char*>(rule.otherwise));
  if (rule.length != 1 || kind_of(rule) == "tensor") return line;
  const auto field =
      plugin::copy_of({.struct_size = sizeof(tenon_field), .name = rule.name, .type = rule.type, .length = 1, .data = rule.otherwise});
  return fmt::format("{} = {}", line, plugin::number_of(*field, 0));
}

std::string name_of(const tenon_port& port) { return fmt::format("{}{}", port.name, port.variadic ? "*" : port.optional ? "?" : ""); }

}  // namespace

PluginOp::PluginOp(const plugin::Op& op, std::string name) : op_(op), name_(std::move(name)) {
  def_.name = name_;
  def_.domain = op.name_space;
  def_.deterministic = !op.table.is_random;
  def_.has_effects = op.table.has_effects != 0;
  def_.checks_attributes = true;
  def_.user_data = this;
  def_.infer = infer_plugin;
  if (op.has_definition()) def_.definition = define_plugin;
  else def_.reference = run_plugin;
  list_ports();
  list_fields();
}

Result<std::unique_ptr<const PluginOp>> PluginOp::make(const plugin::Op& op, std::string name) {
  std::unique_ptr<PluginOp> out(new PluginOp(op, std::move(name)));
  if (!op.table.expression) return out;
  auto expression = Expression::parse(op.table.expression);
  if (!expression)
    return fail(Code::bad_file, op.place(), "its definition does not parse: " + expression.error()->what)
        .expected("calls of ops over operands and fields")
        .found(op.table.expression);
  out->expression_ = *std::move(expression);
  return out;
}

void PluginOp::list_ports() {
  texts_.reserve(op_.operands.size() + op_.results.size() + op_.fields.size());  // what points at them stays right
  const auto keep = [&](std::string text, std::vector<std::string_view>& list) { list.push_back(texts_.emplace_back(std::move(text))); };
  for (const tenon_port& port : op_.operands) keep(name_of(port), inputs_);
  for (const tenon_port& port : op_.results) keep(name_of(port), outputs_);
  for (const tenon_field_rule& rule : op_.fields) keep(line_of(rule), attributes_);
  for (const std::string& sample : op_.samples) samples_.push_back(sample);
}

void PluginOp::list_fields() {
  def_.inputs = {.array = inputs_};
  def_.outputs = {.array = outputs_};
  def_.attributes = {.array = attributes_};
  def_.samples = {.array = samples_};
}

const PluginOp* plugin_of(const ir::Op& op) {
  const auto* const defined = dynamic_cast<const DefinedOp*>(&op);
  return defined && defined->def.infer == infer_plugin ? static_cast<const PluginOp*>(defined->def.user_data) : nullptr;
}

Result<std::unique_ptr<plugin::Object>> object_of(const NodeView& view, const plugin::Op& op) {
  return plugin::Object::create(op, TENON_BUILD, view.where(), TRY(fields_of(view, op)), view.explicit_inputs, view.outputs.size());
}

}  // namespace tenon::ops
