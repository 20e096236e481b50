// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "handles.h"

namespace tenon::python {

/// The graph for patterns in Python: each node has one Python object for as long as it lives, and results are found by name. It records
/// what a pattern reads, so that a pattern that refused a node is tried there again only after a change of what it read.
class Scene {
 public:
  /// `make(node)` gives the object of a node; `fill(object, node)` brings it up to date after its operands, results or attributes changed.
  Scene(GraphPtr graph, nb::object make, nb::object fill) : graph_(std::move(graph)), make_(std::move(make)), fill_(std::move(fill)) {}

  const GraphPtr& graph() const { return graph_; }

  // --- nodes and their objects -------------------------------------------------------------------------------
  nb::object object_of(ir::NodeId node);
  /// The node of an object that was handed out; None for others, and for nodes that are gone.
  nb::object node_of(nb::handle object);
  nb::list objects();
  nb::object node_before(std::string_view name);
  nb::list next_nodes(std::string_view name);

  // --- results by name; unknown names are no error --------------------------------------------------------------
  /// None where there is none. An output of the graph may go by another name than its value.
  ir::ValueId find(std::string_view name);
  bool is_output(std::string_view name);
  bool is_used(std::string_view name);
  bool is_captured(std::string_view name);
  bool is_used_more_than_once(std::string_view name);
  /// The value of a name, recorded as read: a later change of its users, producer or type may change the pattern's result.
  const ir::Value* value_named(std::string_view name);

  // --- trying a pattern ----------------------------------------------------------------------------------------
  /// Determines what has changed since the last call.
  void begin_sweep();
  /// Calls match(view, object, matched) for every live node of one of the op types (empty: all), unless the pattern refused it before and
  /// nothing that it read has changed. Returns (number of calls, [(node, result of match)]).
  nb::tuple match_nodes(size_t pattern, const std::vector<std::string>& op_types, nb::handle match, nb::handle view, nb::list matched);
  /// Records that the current pattern reads more than results by name, so that any change may affect it.
  void looks_everywhere() { everywhere_ = true; }

 private:
  struct State {  ///< the contents of a node's object, and when the node last changed
    nb::object object;
    std::vector<ir::ValueId> operands, results;
    std::vector<std::string> names;  ///< of operands, then of results
    ir::Attributes attributes;
    uint64_t changed = 0;  ///< sweep of the last change
    uint64_t seen = 0;     ///< last sweep in which the node existed
  };
  struct ValueState {  ///< of a value
    ir::Type type;
    bool output = false;
    uint64_t changed = 0;
  };
  /// A pattern that refused a node: when, and the values that it read.
  struct Refusal {
    uint64_t sweep;
    bool everywhere;
    std::vector<ir::ValueId> reads;
  };

  const ir::Graph& get() const { return graph_->get(); }
  State& state_of(ir::NodeId node);
  bool is_current(const State& state, ir::NodeId node) const;
  void remember(State& state, ir::NodeId node);
  void note_node(ir::NodeId node);
  void note_value(ir::ValueId value);
  void note_removed();
  void mark(const std::vector<ir::ValueId>& values);
  bool still_refused(const Refusal& refusal, ir::NodeId node) const;

  GraphPtr graph_;
  nb::object make_, fill_;
  std::unordered_map<ir::NodeId, State> states_;
  std::unordered_map<PyObject*, ir::NodeId> nodes_;  ///< by their objects
  std::unordered_map<ir::ValueId, ValueState> values_;
  std::vector<ir::NodeId> live_;  ///< nodes with a result that is used, when the sweep began
  std::unordered_map<size_t, std::unordered_map<ir::NodeId, Refusal>> refused_;
  uint64_t sweep_ = 0;
  uint64_t last_change_ = 0;  ///< the last sweep that found a change
  std::vector<ir::ValueId> reads_;
  bool everywhere_ = false;
};

void bind_scene(nb::module_& m);

}  // namespace tenon::python
