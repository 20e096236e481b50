// SPDX-License-Identifier: Apache-2.0
#include "import/cached_branch.h"

#include <iterator>

#include "import/decoder_ports.h"

namespace tenon::import {
namespace {

/// The branch that is taken; null: the node is no such If.
OnnxGraph* cached_branch(OnnxNode& node) {
  const bool decides = node.op == "If" && plain_domain(node.domain).empty() && node.inputs.size() == 1 &&
                       role_named(node.inputs[0]) == InputRole::cached_branch;
  if (!decides) return nullptr;
  for (OnnxAttribute& a : node.attributes)
    if (a.name == "then_branch" && a.graph && a.graph->outputs.size() >= node.outputs.size()) return a.graph.get();
  return nullptr;
}

template <class T>
void move_to(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

OnnxNode renaming_node(std::string_view from, std::string_view to) {
  OnnxNode out;
  out.op = "Identity";
  out.inputs = {from};
  out.outputs = {to};
  return out;
}

}  // namespace

void take_cached_branch(OnnxGraph& graph) {
  std::vector<OnnxNode> nodes;
  for (OnnxNode& node : graph.nodes) {
    OnnxGraph* const branch = cached_branch(node);
    if (!branch) {
      nodes.push_back(std::move(node));
      continue;
    }
    move_to(nodes, branch->nodes);
    move_to(graph.initializers, branch->initializers);
    move_to(graph.sparse_initializers, branch->sparse_initializers);
    move_to(graph.value_info, branch->value_info);
    for (size_t k = 0; k < node.outputs.size(); ++k)
      if (!node.outputs[k].empty() && node.outputs[k] != branch->outputs[k].name)
        nodes.push_back(renaming_node(branch->outputs[k].name, node.outputs[k]));
  }
  graph.nodes = std::move(nodes);
}

}  // namespace tenon::import
