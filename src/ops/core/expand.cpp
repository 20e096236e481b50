// SPDX-License-Identifier: Apache-2.0
#include "ops/versions/versions.h"

namespace tenon::ops {

Result<void> write_as(ir::Graph& graph, ir::NodeId node, const Writing& writing) {
  const NodeView view = graph.view(node);
  const std::vector<ir::ValueId> inputs = graph.node(node).inputs;
  const std::vector<ir::ValueId> outputs = graph.node(node).outputs;
  ir::Builder build(graph, node);
  build.set_provenance({"expand", {graph.node(node).name}});
  const std::vector<ir::ValueId> results = writing(build, view, inputs);
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

Result<void> expand(ir::Graph& graph, ir::NodeId node) {
  const OpDef& def = def_of(*graph.node(node).op);
  if (!def.definition)
    return fail(Code::not_supported, graph.view(node).where(), std::string(def.name) + " has no definition in plain ops");
  return write_as(graph, node, def.definition);
}

ir::ValueId as_dtype(ir::Builder& build, ir::ValueId x, DType from, DType to) {
  return from == to ? x : build("Cast", {x}, {{"to", static_cast<int64_t>(to)}});
}

std::vector<ir::ValueId> define_float_map(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in,
                                          const std::function<ir::ValueId(ir::ValueId x, DType dtype)>& body) {
  const DType dtype = view.type(0).dtype, wide = definition_dtype(dtype);
  return {as_dtype(build, body(as_dtype(build, in[0], dtype, wide), wide), wide, dtype)};
}

}  // namespace tenon::ops
