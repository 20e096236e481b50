// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <unordered_map>

#include "ir/graph.h"

namespace tenon::compiler {

using SymbolSizes = std::unordered_map<const DimNode*, int64_t>;
/// Sizes for the symbols in the shapes of a graph's inputs: 1 for a first dimension and 16 for others, within their bounds.
SymbolSizes default_sizes(const ir::Graph& graph);

/// A graph of one node, with static shapes.
struct SingleNodeGraph {
  std::unique_ptr<ir::Graph> graph;
  std::string signature;  ///< op, attributes, types and small constants; nodes with equal signatures take equal times
};
/// The graph of one node, with `sizes` for the symbols of its operands. nullopt where an operand has a data-dependent shape, or the node
/// has bodies.
Result<std::optional<SingleNodeGraph>> single_node_graph(const ir::Graph& graph, ir::NodeId node, const SymbolSizes& sizes);

}  // namespace tenon::compiler
