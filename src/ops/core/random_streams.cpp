// SPDX-License-Identifier: Apache-2.0
#include "ops/core/random_streams.h"

#include <algorithm>

#include "ops/core/op.h"

namespace tenon::ops {

namespace {

bool is_unnumbered(const ir::Graph& graph, ir::NodeId node) {
  return is_random(graph, node) && !graph.node(node).attributes.has(kStreamAttribute) && has_stream(*graph.node(node).op);
}

uint32_t next_stream(const ir::Graph& graph) {
  uint32_t next = 0;
  for (const ir::NodeId n : graph.nodes()) {
    const ir::Node& node = graph.node(n);
    if (node.attributes.has(kStreamAttribute) && has_stream(*node.op))
      next = std::max(next, static_cast<uint32_t>(node.attributes.integer(kStreamAttribute, 0)) + 1);
    for (const ir::Body& body : node.bodies) next = std::max(next, next_stream(*body.graph));
  }
  return next;
}

void number_nodes(ir::Graph& graph, uint32_t& next) {
  for (const ir::NodeId n : graph.nodes()) {
    if (is_unnumbered(graph, n)) graph.set_attribute(n, std::string(kStreamAttribute), int64_t{next++});
    for (size_t k = 0; k < graph.node(n).bodies.size(); ++k) number_nodes(graph.body(n, k), next);
  }
}

}  // namespace

bool has_stream(const ir::Op& op) {
  return !op.unknown && std::ranges::any_of(def_of(op).attributes, [](std::string_view line) { return line.starts_with("stream:"); });
}

bool is_random(const ir::Graph& graph, ir::NodeId node) {
  const ir::Node& n = graph.node(node);
  for (const ir::Body& body : n.bodies)
    for (const ir::NodeId inner : body.graph->nodes())
      if (is_random(*body.graph, inner)) return true;
  if (n.op->unknown) return false;
  const int switch_operand = def_of(*n.op).random_switch_operand;
  if (switch_operand < 0) return !n.op->deterministic;
  const auto slot = static_cast<size_t>(switch_operand);
  if (slot >= n.explicit_inputs || !n.inputs[slot]) return false;
  const Tensor* given = graph.tensor_of(n.inputs[slot]);
  return !given || given->count() != 1 || given->integer(0) != 0;
}

bool has_unnumbered_streams(const ir::Graph& graph) {
  for (const ir::NodeId n : graph.nodes()) {
    if (is_unnumbered(graph, n)) return true;
    for (const ir::Body& body : graph.node(n).bodies)
      if (has_unnumbered_streams(*body.graph)) return true;
  }
  return false;
}

void number_random_streams(ir::Graph& graph) {
  if (!has_unnumbered_streams(graph)) return;
  uint32_t next = next_stream(graph);
  number_nodes(graph, next);
}

}  // namespace tenon::ops
