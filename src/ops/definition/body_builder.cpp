// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/body_builder.h"

#include <algorithm>
#include <unordered_map>

namespace tenon::ops {

using ir::ValueId;

std::vector<ValueId> inlined(ir::Builder& build, const ir::Graph& body, std::span<const ValueId> arguments) {
  std::unordered_map<ValueId, ValueId> outside;
  for (size_t k = 0; k < body.inputs().size(); ++k) outside[body.inputs()[k]] = arguments[k];
  auto mapped = [&](ValueId v) {
    if (v && body.value(v).is_constant() && !outside.contains(v)) outside[v] = build.constant(body.value(v).constant);
    return v ? outside.at(v) : v;
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
      if (node.outputs[k]) outside[node.outputs[k]] = results[k];
  }
  std::vector<ValueId> out;
  for (ValueId v : body.outputs()) out.push_back(mapped(v));
  return out;
}

ValueId BodyBuilder::capture(ValueId outside) {
  if (!outside) return {};
  const auto at = std::find(captured.begin(), captured.end(), outside);
  if (at != captured.end()) return inside[static_cast<size_t>(at - captured.begin())];
  const ir::Value& value = outer.graph().value(outside);
  if (value.is_constant()) return build.constant(value.constant);
  captured.push_back(outside);
  inside.push_back(graph->add_input(value.name, value.type));
  graph->set_data(inside.back(), value.data);
  return inside.back();
}

}  // namespace tenon::ops
