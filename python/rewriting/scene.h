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

/// A graph as patterns in Python see it: each node is one Python object for as long as it lives, and results go by name. It notes what a
/// pattern reads, so that a pattern that has refused a node is tried again only where something of that has changed.
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

  // --- results: names that nobody makes are no error -----------------------------------------------------------
  /// None where there is none. An output of the graph may go by another name than its value.
  ir::ValueId find(std::string_view name);
  bool is_output(std::string_view name);
  bool is_used(std::string_view name);
  bool is_captured(std::string_view name);
  bool is_used_more_than_once(std::string_view name);
  /// The value for a question whose answer may change when the value's users, producer or type do.
  const ir::Value* value_named(std::string_view name);

  // --- trying a pattern ----------------------------------------------------------------------------------------
  /// Finds out what has changed since the last call.
  void begin_sweep();
  /// match(view, object, matched) of every living node of one of the op types (empty: all) that it has not refused in the same
  /// surroundings before. Returns (how many were tried, [(node, answer)]).
  nb::tuple match_nodes(size_t pattern, const std::vector<std::string>& op_types, nb::handle match, nb::handle view, nb::list matched);
  /// The current pattern reads more than results by name.
  void looks_everywhere() { everywhere_ = true; }

 private:
  struct State {  ///< what the object of a node says, and when the node last changed
    nb::object object;
    std::vector<ir::ValueId> operands, results;
    std::vector<std::string> names;  ///< of operands, then of results
    ir::Attributes attributes;
    uint64_t changed = 0;
    uint64_t seen = 0;
  };
  struct ValueState {  ///< of a value
    ir::Type type;
    bool output = false;
    uint64_t changed = 0;
  };
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
  uint64_t last_change_ = 0;  ///< the last sweep that found any
  std::vector<ir::ValueId> reads_;
  bool everywhere_ = false;
};

void bind_scene(nb::module_& m);

}  // namespace tenon::python
