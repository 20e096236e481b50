// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "ir/text.h"
#include "ops/core/refuse.h"
#include "ops/plugin/plugin_functions.h"
#include "ops/plugin/plugin_op.h"
#include "ops/plugin/type_views.h"

namespace tenon::ops {

namespace {

Result<std::vector<ir::ValueId>> by_expression(ir::Builder& build, const Expression& expression, const plugin::Op& op, const NodeView& view,
                                               std::span<const ir::ValueId> inputs) {
  const std::vector<plugin::Field> fields = TRY(fields_of(view, op));
  const auto rule_of = [&](std::string_view name) { return std::ranges::find(op.fields, name, &tenon_field_rule::name); };
  const auto field_of = [&](std::string_view name) { return std::ranges::find(fields, name, &plugin::Field::name); };
  const Expression::Names names{
      .operand = [&](std::string_view name) -> std::optional<std::vector<ir::ValueId>> {
        const auto port = std::ranges::find(op.operands, name, &tenon_port::name);
        if (port == op.operands.end()) return std::nullopt;
        const auto at = std::min(inputs.size(), static_cast<size_t>(port - op.operands.begin()));
        if (port->variadic) return std::vector(inputs.begin() + static_cast<ptrdiff_t>(at), inputs.end());
        return std::vector{at < inputs.size() ? inputs[at] : ir::ValueId()};
      },
      .field = [&](std::string_view name) -> std::optional<ir::Attribute> {
        const auto field = field_of(name);
        if (field == fields.end()) return std::nullopt;
        const auto rule = rule_of(name);
        return attribute_of(*field, rule != op.fields.end() && rule->length != 1);
      },
      .is_left_out = [&](std::string_view name) { return rule_of(name) != op.fields.end() && field_of(name) == fields.end(); }};
  return std::vector{TRY(expression.build(build, names))};
}

/// Builds the nodes of `from` again with `inputs` for its inputs.
Result<std::vector<ir::ValueId>> copied(ir::Builder& build, const ir::Graph& from, std::span<const ir::ValueId> inputs,
                                        const plugin::Op& op) {
  const auto given = static_cast<size_t>(std::ranges::count_if(inputs, [](ir::ValueId v) { return static_cast<bool>(v); }));
  if (from.inputs().size() != given)
    return fail(Code::device_failed, op.place(), "its definition is a graph of another number of inputs")
        .expected(std::to_string(given))
        .found(std::to_string(from.inputs().size()));
  std::unordered_map<ir::ValueId, ir::ValueId> made;
  size_t next = 0;
  for (ir::ValueId v : inputs)
    if (v) made.emplace(from.inputs()[next++], v);
  const auto value = [&](ir::ValueId v) -> ir::ValueId {
    if (!v) return {};
    if (const auto found = made.find(v); found != made.end()) return found->second;
    return made.emplace(v, build.constant(from.value(v).constant)).first->second;
  };
  for (ir::NodeId n : from.nodes()) {
    const ir::Node& node = from.node(n);
    if (!node.bodies.empty())
      return fail(Code::not_supported, op.place(), "not supported yet: bodies of nodes in a definition that is written");
    std::vector<ir::ValueId> operands;
    for (ir::ValueId v : node.inputs) operands.push_back(value(v));
    const auto results = build.many(*node.op, std::move(operands), node.outputs.size(), node.attributes);
    if (!build.status()) return std::unexpected(build.status().error());
    for (size_t k = 0; k < results.size(); ++k)
      if (node.outputs[k]) made.emplace(node.outputs[k], results[k]);
  }
  std::vector<ir::ValueId> out;
  for (ir::ValueId v : from.outputs()) out.push_back(value(v));
  return out;
}

Result<std::string> written(const NodeView& view, const plugin::Op& op) {
  const auto object = TRY(object_of(view, op));
  const std::vector<plugin::Field> fields = TRY(fields_of(view, op));
  const plugin::FieldViews field_views(fields);
  const std::string name = view.where();
  const tenon_node node{.struct_size = sizeof(tenon_node),
                        .phase = TENON_BUILD,
                        .name = name.c_str(),
                        .field_count = field_views.size(),
                        .fields = field_views.data(),
                        .operand_count = static_cast<uint32_t>(view.explicit_inputs),
                        .result_count = static_cast<uint32_t>(view.outputs.size())};
  const TypeViews types(view);
  std::string text;
  const tenon_definition definition{.struct_size = sizeof(tenon_definition),
                                    .node = &node,
                                    .operand_count = types.size(),
                                    .operands = types.data(),
                                    .write = [](const tenon_definition* to, const char* more) -> int32_t {
                                      if (more) static_cast<std::string*>(to->host_data)->append(more);
                                      return TENON_OK;
                                    },
                                    .host_data = &text};
  TRY(object->define(definition));
  return text;
}

/// Whether a definition is a graph in text form; else it is an expression, which has no braces.
bool is_graph(std::string_view text) { return text.find('{') != text.npos; }

Result<std::vector<ir::ValueId>> by_text(ir::Builder& build, const plugin::Op& op, const NodeView& view,
                                         std::span<const ir::ValueId> inputs) {
  const std::string text = TRY(written(view, op));
  const auto wrong = [&](const Error& error) {
    return fail(Code::device_failed, fmt::format("{}, {}", view.where(), op.place()),
                "the definition that it writes does not parse: " + error->what)
        .expected("a graph in Tenon's text form, or an expression")
        .found(text.substr(0, 400))
        .advice(error->place);
  };
  if (!is_graph(text)) {
    const auto expression = Expression::parse(text);
    if (!expression) return wrong(expression.error());
    return by_expression(build, *expression, op, view, inputs);
  }
  auto graph = ir::parse(text, *view.ops);
  if (!graph) return wrong(graph.error());
  return copied(build, **graph, inputs, op);
}

}  // namespace

std::vector<ir::ValueId> define_plugin(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> inputs) {
  const PluginOp& plugin = *plugin_of(*view.op);
  auto made = plugin.expression() ? by_expression(build, *plugin.expression(), plugin.op(), view, inputs)
                                  : by_text(build, plugin.op(), view, inputs);
  if (made) return *std::move(made);
  build.refuse(std::move(made).error());
  return {};
}

}  // namespace tenon::ops
