// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "ir/graph.h"

namespace tenon::ir {

struct DotOptions {
  bool collapse = true;        ///< draw repeated consecutive blocks (layers) once, with "x 12"
  size_t longest_block = 512;  ///< nodes
};
/// Graphviz DOT text of the graph (bodies are one node): ops coloured by family, types on the edges.
/// Cost: nodes times `longest_block`.
std::string dot(const Graph& graph, const DotOptions& options = {});

}  // namespace tenon::ir
