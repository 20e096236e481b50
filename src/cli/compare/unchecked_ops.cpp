// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/unchecked_ops.h"

#include "ops/plugin/plugin_op.h"

namespace tenon::cli {

namespace {

void count(const ir::Graph& graph, std::map<std::string, size_t>& out) {
  for (ir::NodeId n : graph.nodes()) {
    const ir::Node& node = graph.node(n);
    if (const ops::PluginOp* plugin = ops::plugin_of(*node.op); plugin && !plugin->op().has_definition())
      ++out[node.op->domain + "::" + node.op->name];
    for (const ir::Body& body : node.bodies) count(*body.graph, out);
  }
}

}  // namespace

std::map<std::string, size_t> ops_without_reference(const ir::Graph& graph) {
  std::map<std::string, size_t> out;
  count(graph, out);
  return out;
}

}  // namespace tenon::cli
