// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tenon::cli {

/// A result of an excerpt, and its name in the whole graph.
struct ExcerptResult {
  ir::ValueId value;
  std::string name;
};

/// Some nodes of a graph (or of a body) as a graph of its own, to be written or drawn.
struct Excerpt {
  std::unique_ptr<ir::Graph> graph;
  std::vector<bool> context;  ///< for each node: it is no part of the rewrite, and only shows how the others are connected
};
/// Copies nodes to a graph of their own. Values that the nodes use and do not compute are its inputs, named as in `graph`, so that two
/// excerpts of one graph have the same names for the same values; constants of up to 16 KB are copied. A result that no node computes is an
/// input or a constant. The excerpt shares the symbols of `graph`. Cost: the nodes and their bodies.
Excerpt cut_excerpt(const ir::Graph& graph, std::vector<ir::NodeId> nodes, std::span<const ir::NodeId> context,
                    std::span<const ExcerptResult> results);
/// The values that the nodes use and do not compute, without constants.
std::vector<ir::ValueId> inputs_from_outside(const ir::Graph& graph, std::span<const ir::NodeId> nodes);
/// The nodes on short paths from `values` to `nodes`; the search is bounded.
std::vector<ir::NodeId> nodes_between(const ir::Graph& graph, std::span<const ir::ValueId> values, std::span<const ir::NodeId> nodes);
/// A constant's elements as text where they are few; else "".
std::string elements_shown(const ir::Graph& graph, ir::ValueId constant);
/// "name (Op)"; where the node has no name that of its first result.
std::string title_of(const ir::Graph& graph, ir::NodeId node);

}  // namespace tenon::cli
