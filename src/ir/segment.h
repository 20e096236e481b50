// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/graph.h"

namespace tenon::ir {

/// A convex set of nodes that one backend compiles as a unit.
struct Segment {
  std::string backend;
  std::vector<NodeId> nodes;      ///< in the order of the graph
  std::vector<ValueId> operands;  ///< values that come from outside, each once; constants are none
  std::vector<ValueId> results;   ///< values with users outside, or that define a size used outside
};

/// All elements of its results are known as symbolic sizes, so no kernel computes them.
bool makes_sizes(const Graph& graph, const Node& node);

/// The nodes that a node depends on: producers of its operands, producers of values that define a size that it uses, and, for a node with
/// effects, the previous node with effects.
class Dependencies {
 public:
  explicit Dependencies(const Graph& graph);
  /// A node may be visited several times. Cost: its operands, and the sizes of its results and bodies.
  void each(NodeId node, const std::function<void(NodeId)>& visit) const;
  /// Its results are sizes that follow from the sizes of the graph's inputs.
  bool follows_from_input_sizes(NodeId node) const;
  /// The node takes its results from the size table and depends on no node. Needs follows_from_input_sizes().
  void take_from_sizes(NodeId node) { sized_.insert(node); }
  bool takes_from_sizes(NodeId node) const { return sized_.contains(node); }
  /// The first value whose type has the symbol; none where an input, or the enclosing graph, defines it.
  ValueId definition_of(const DimNode& symbol) const;

 private:
  const Graph& graph_;
  std::unordered_map<const DimNode*, ValueId> definitions_;  ///< of symbols that only results define
  std::unordered_map<NodeId, NodeId> effects_;               ///< of a node with effects: the previous such node
  std::unordered_set<NodeId> sized_;
};

/// The segment of these nodes, which are in the order of the graph.
Segment segment_of(const Graph& graph, const Dependencies& dependencies, std::string backend, std::vector<NodeId> nodes);

/// One step of an order in which segments are contiguous.
struct Unit {
  NodeId node;                       ///< where it is part of no segment
  const Segment* segment = nullptr;  ///< else
};
/// The graph's nodes and segments, each after what it depends on and otherwise in the order of the graph: a segment is where its first
/// node does, and pulls what it needs before it. Errors: internal where two segments need each other (they are not convex). Cost: linear.
Result<std::vector<Unit>> units_of(const Graph& graph, std::span<const Segment> segments);

/// The segment as a graph of its own, with Symbols of the same names: inputs are its operands, outputs its results. Constants are shared,
/// and values and nodes keep their names. Cost: linear in the segment.
std::unique_ptr<Graph> cut_out(const Graph& graph, const Segment& segment);

}  // namespace tenon::ir
