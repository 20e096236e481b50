// SPDX-License-Identifier: Apache-2.0
#include "ops/op.h"

namespace tenon::ops {

Result<void> expand(ir::Graph& graph, ir::NodeId node) {
  const OpDef& def = def_of(*graph.node(node).op);
  const NodeView view = graph.view(node);
  if (!def.definition) return fail(Code::not_supported, view.where(), std::string(def.name) + " has no definition in plain ops");
  const std::vector<ir::ValueId> inputs = graph.node(node).inputs;
  const std::vector<ir::ValueId> outputs = graph.node(node).outputs;
  ir::Builder build(graph, node);
  build.set_provenance({"expand", {graph.node(node).name}});
  const std::vector<ir::ValueId> results = def.definition(build, view, inputs);
  if (!build.status()) return build.status();
  std::vector<std::pair<ir::ValueId, std::string>> names;
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (!outputs[k]) continue;
    if (k >= results.size() || !results[k]) {
      return fail(Code::not_supported, view.where(),
                  std::string(def.name) + ": not supported yet: result " + std::to_string(k) + " in the definition");
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
