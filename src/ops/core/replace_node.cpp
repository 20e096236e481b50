// SPDX-License-Identifier: Apache-2.0
#include "ops/core/replace_node.h"

#include "ops/core/refuse.h"

namespace tenon::ops {

namespace {

ir::Provenance provenance_of(const ir::Node& node) {
  ir::Provenance out = node.provenance ? *node.provenance : ir::Provenance();
  if (out.sources.empty()) out.sources = {node.name};
  out.rule = "expand";
  return out;
}

}  // namespace

Result<void> replace_node(ir::Graph& graph, ir::NodeId node, const BuildReplacement& replacement) {
  const NodeView view = graph.view(node);
  const std::vector<ir::ValueId> inputs = graph.node(node).inputs;
  const std::vector<ir::ValueId> outputs = graph.node(node).outputs;
  ir::Builder build(graph, node);
  build.set_provenance(provenance_of(graph.node(node)));
  const std::vector<ir::ValueId> results = replacement(build, view, inputs);
  if (!build.status()) return build.status();
  std::vector<std::pair<ir::ValueId, std::string>> names;
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (!outputs[k]) continue;
    if (k >= results.size() || !results[k]) {
      return refuse(view, Code::not_supported, "not supported yet: result " + std::to_string(k) + " in the definition");
    }
    names.emplace_back(results[k], graph.value(outputs[k]).name);
    TENON_ASSERT(graph.replace_all_uses(outputs[k], results[k]));
  }
  graph.erase(node);
  // A result that is an operand of the node keeps the name that it has.
  for (auto& [value, name] : names) {
    if (!name.empty() && graph.value(value).kind == ir::Value::Kind::result && graph.value(value).name.empty()) graph.set_name(value, name);
  }
  return {};
}

}  // namespace tenon::ops
