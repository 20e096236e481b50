// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/body_builder.h"

#include <algorithm>
#include <unordered_map>

namespace tenon::ops {

using ir::ValueId;

std::vector<ValueId> inlined(ir::Builder& build, const ir::Graph& body, std::span<const ValueId> arguments) {
  std::unordered_map<ValueId, ValueId> mapped_values;
  for (size_t k = 0; k < body.inputs().size(); ++k) mapped_values[body.inputs()[k]] = arguments[k];
  auto mapped = [&](ValueId v) {
    if (v && body.value(v).is_constant() && !mapped_values.contains(v)) mapped_values[v] = build.constant(body.value(v).constant);
    return v ? mapped_values.at(v) : v;
  };
  for (ir::NodeId n : body.nodes()) {
    const ir::Node& node = body.node(n);
    if (!node.bodies.empty()) return {};
    std::vector<ValueId> inputs;
    for (ValueId v : node.inputs) inputs.push_back(mapped(v));
    const std::string name = node.op->domain.empty() ? node.op->name : node.op->domain + "::" + node.op->name;
    const std::vector<ValueId> results =
        build.many(name, std::move(inputs), node.outputs.size(), {node.attributes.begin(), node.attributes.end()});
    for (size_t k = 0; k < node.outputs.size(); ++k)
      if (node.outputs[k]) mapped_values[node.outputs[k]] = results[k];
  }
  std::vector<ValueId> out;
  for (ValueId v : body.outputs()) out.push_back(mapped(v));
  return out;
}

ValueId BodyBuilder::capture(ValueId outer_value) {
  if (!outer_value) return {};
  const auto at = std::find(captured.begin(), captured.end(), outer_value);
  if (at != captured.end()) return capture_inputs[static_cast<size_t>(at - captured.begin())];
  const ir::Value& value = outer.graph().value(outer_value);
  if (value.is_constant()) return build.constant(value.constant);
  captured.push_back(outer_value);
  capture_inputs.push_back(graph->add_input(value.name, value.type));
  graph->set_data(capture_inputs.back(), value.data);
  return capture_inputs.back();
}

}  // namespace tenon::ops
