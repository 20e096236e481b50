// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "ir/graph.h"

namespace tenon::ir {

struct DotOptions {
  bool collapse = true;        ///< draw repeated consecutive blocks (layers) once, with "x 12"
  size_t longest_block = 512;  ///< nodes
  /// Nodes of one number get one colour, nullopt: white. Null: nodes are coloured by the family of their op.
  std::function<std::optional<size_t>(NodeId)> color_group = {};
};
/// Graphviz DOT text of the graph (bodies are one node): ops coloured by family or by group, types on the edges.
/// Cost: nodes times `longest_block`.
std::string dot(const Graph& graph, const DotOptions& options = {});

}  // namespace tenon::ir
