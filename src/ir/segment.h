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
  std::vector<ValueId> operands;  ///< values from outside, each once, without constants
  std::vector<ValueId> results;   ///< values with users outside, or that define a size used outside
};

/// Whether all elements of the node's results are known as symbolic sizes, so that no kernel computes them.
bool computes_sizes_only(const Graph& graph, const Node& node);

/// The nodes that a node depends on: producers of its operands, producers of values that define a size that it uses, and, for a node with
/// effects, the previous node with effects.
class Dependencies {
 public:
  explicit Dependencies(const Graph& graph);
  /// Calls `visit` for each dependency of a node, possibly several times. Cost: its operands, and the sizes of its results and bodies.
  void each(NodeId node, const std::function<void(NodeId)>& visit) const;
  /// Whether the node's results are sizes that follow from the sizes of the graph's inputs.
  bool follows_from_input_sizes(NodeId node) const;
  /// Marks a node whose results come from the size table, so that it depends on no node. Requires follows_from_input_sizes().
  void take_from_size_table(NodeId node) { from_size_table_.insert(node); }
  /// Whether the node was marked by take_from_size_table().
  bool is_in_size_table(NodeId node) const { return from_size_table_.contains(node); }
  /// The first value whose type has the symbol; none where an input, or the enclosing graph, defines it.
  ValueId definition_of(const DimNode& symbol) const;

 private:
  const Graph& graph_;
  std::unordered_map<const DimNode*, ValueId> definitions_;  ///< for symbols that no input defines
  std::unordered_map<NodeId, NodeId> effects_;               ///< of a node with effects: the previous such node
  std::unordered_set<NodeId> from_size_table_;
};

/// A segment of these nodes, given in the order of the graph, with its operands and results.
Segment segment_of(const Graph& graph, const Dependencies& dependencies, std::string backend, std::vector<NodeId> nodes);

/// A node that is in no segment, or a segment.
struct ScheduleUnit {
  NodeId node;                       ///< none: it is a segment
  const Segment* segment = nullptr;  ///< null: it is a node
};
/// A topological order of the graph's segments and the nodes outside of them. Otherwise in the order of the graph: a segment has the
/// position of its first node, after all nodes that it depends on. Errors: internal where two segments depend on each other (they are not
/// convex). Cost: linear.
Result<std::vector<ScheduleUnit>> schedule_units(const Graph& graph, std::span<const Segment> segments);

/// Copies a segment to a new graph, with Symbols of the same names: inputs are its operands, outputs its results. Constants are shared,
/// and values and nodes keep their names. Cost: linear in the segment.
std::unique_ptr<Graph> extract_segment(const Graph& graph, const Segment& segment);

}  // namespace tenon::ir
