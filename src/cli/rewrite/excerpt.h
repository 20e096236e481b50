// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tenon::cli {

/// A value that an excerpt gives, and the name that it has outside.
struct ExcerptResult {
  ir::ValueId value;
  std::string name;
};

/// Some nodes of a graph (or of a body) as a graph of its own, to be written or drawn.
struct Excerpt {
  std::unique_ptr<ir::Graph> graph;
  std::vector<bool> context;  ///< of its nodes, in their order: it is there only to show how the others hang together
};
/// What the nodes use and do not make are inputs, named as in `graph`, so that two excerpts of one graph have the same names for the same
/// values; constants up to 16 KB come along. A result that is none of the nodes' is an input (or a constant) handed through. The excerpt
/// shares the symbols of `graph`. Cost: the nodes and their bodies.
Excerpt cut_excerpt(const ir::Graph& graph, std::vector<ir::NodeId> nodes, std::span<const ir::NodeId> context,
                    std::span<const ExcerptResult> results);
/// What the nodes use and do not make, constants left out.
std::vector<ir::ValueId> inputs_from_outside(const ir::Graph& graph, std::span<const ir::NodeId> nodes);
/// The nodes on ways from `values` to `nodes`, where these are few and near; what was looked through in vain is bounded.
std::vector<ir::NodeId> nodes_between(const ir::Graph& graph, std::span<const ir::ValueId> values, std::span<const ir::NodeId> nodes);
/// A constant's elements as text where they are few; else "".
std::string elements_shown(const ir::Graph& graph, ir::ValueId constant);
/// "name (Op)"; where the node has no name that of its first result.
std::string title_of(const ir::Graph& graph, ir::NodeId node);

}  // namespace tenon::cli
