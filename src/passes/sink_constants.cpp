// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.h"

namespace tenon::passes {
namespace {

/// Replaces captures of a body that are constants by constants in the body. Returns whether there was one.
bool sink(Graph& graph, ir::NodeId node, size_t index) {
  Graph& body = graph.body(node, index);
  bool changed = false;
  for (uint32_t c = graph.node(node).bodies[index].captures; c-- > 0;) {
    const ir::Body& info = graph.node(node).bodies[index];
    const ir::Value& outside = graph.value(graph.node(node).inputs[info.first_capture + c]);
    if (!outside.is_constant()) continue;
    const ir::ValueId inner = body.inputs()[body.inputs().size() - info.captures + c];
    const ir::ValueId constant = body.add_constant(outside.constant, outside.name);
    if (!body.replace_all_uses(inner, constant)) continue;
    graph.drop_capture(node, index, c);
    changed = true;
  }
  return changed;
}

}  // namespace

Result<bool> sink_constants(Graph& graph, Context& context) {
  bool changed = false;
  for (ir::NodeId node : graph.nodes())
    for (size_t i = 0; i < graph.node(node).bodies.size(); ++i) {
      changed |= sink(graph, node, i);
      changed |= TRY(sink_constants(graph.body(node, i), context));
    }
  return changed;
}

}  // namespace tenon::passes
