// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <unordered_map>

#include "ir/graph.h"

namespace tenon::compiler {

using SizesOfSymbols = std::unordered_map<const DimNode*, int64_t>;
/// Of the symbols in a graph's inputs: 1 in the first dimension and 16 in others, within their bounds.
SizesOfSymbols usual_sizes(const ir::Graph& graph);

/// A node as a graph of its own, of sizes that are numbers.
struct NodeAlone {
  std::unique_ptr<ir::Graph> graph;
  std::string signature;  ///< equal for nodes that take equal times
};
/// None where the sizes of an operand follow from data, or the node has bodies.
Result<std::optional<NodeAlone>> node_alone(const ir::Graph& graph, ir::NodeId node, const SizesOfSymbols& sizes);

}  // namespace tenon::compiler
