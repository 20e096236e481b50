// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/dim/dim.h"
#include "base/result.h"
#include "ir/arena.h"
#include "ir/assumptions.h"
#include "ir/attribute.h"
#include "ir/constant.h"
#include "ir/ids.h"
#include "ir/name_table.h"
#include "ir/op.h"
#include "ir/small_list.h"
#include "ir/state.h"
#include "ir/type.h"

namespace tenon::ir {

/// One use of a value: operand `slot` of node `node`, or, where `node` is none, graph output `slot`.
struct Use {
  NodeId node;
  uint32_t slot = 0;
  bool is_output() const { return !node; }
  friend bool operator==(const Use&, const Use&) = default;
};

/// Fields that every walk reads come first.
struct Value {
  enum class Kind : uint8_t { input, constant, result } kind = Kind::result;
  uint32_t index = 0;      ///< result: index among the producer's outputs; input: index among the graph's inputs
  NodeId producer;         ///< result: the node
  SmallList<Use, 2> uses;  ///< all uses, in no particular order
  Type type;
  ConstantRef constant;           ///< constant: its bytes; input: its default where the caller passes no value (null: required)
  std::optional<ShapeData> data;  ///< its elements as sizes, where inference knows them
  std::string name;               ///< unique in its graph; may be empty, then printing makes one
  bool is_constant() const { return kind == Kind::constant; }
  bool has_default() const { return kind == Kind::input && constant; }
};

/// The backend that a constraint of the user requires for a node.
struct Placement {
  std::string backend;  ///< empty: the fallback
  std::string code;     ///< the kind of constraint: "pinned", "fallback_op", "fallback_module"
  std::string text;     ///< the reason, for messages
};

/// Why a node has other element types than in the source model, or is a Cast that was inserted next to such a node.
struct Retyping {
  std::string backend;  ///< that needs the other types
  std::string refusal;  ///< why that backend refuses the node in its original types; empty: an inserted Cast
  std::string text;     ///< the reason, for messages
  bool is_inserted_cast() const { return refusal.empty(); }
};

/// Where a node comes from: the rule that created it (empty: imported), the names of the source nodes, and their metadata (metadata_props
/// of ONNX); of several source nodes the entries that are equal in all that have metadata.
struct Provenance {
  std::string rule;
  std::vector<std::string> sources;
  std::vector<std::pair<std::string, std::string>> metadata = {};
  std::shared_ptr<const Placement> placement = {};  ///< null: no constraint
  std::shared_ptr<const Retyping> retyping = {};    ///< null: the node has the types of the source
};

struct Body {
  std::string name;              ///< attribute name: "then_branch", "body"
  std::unique_ptr<Graph> graph;  ///< inputs: the formal ones, then one per capture
  uint32_t first_capture = 0;    ///< operand slot of the node for its first captured input
  uint32_t captures = 0;         ///< number of captured inputs
};

/// The bodies of one node. Most nodes have none: then this is one null pointer.
class Bodies {
 public:
  bool empty() const { return !list_ || list_->empty(); }
  size_t size() const { return list_ ? list_->size() : 0; }
  Body& operator[](size_t i) { return (*list_)[i]; }
  const Body& operator[](size_t i) const { return (*list_)[i]; }
  const Body* begin() const { return list_ ? list_->data() : nullptr; }
  const Body* end() const { return begin() + size(); }
  void push_back(Body body);

 private:
  std::unique_ptr<std::vector<Body>> list_;
};

/// Fields that every walk reads come first.
struct Node {
  const Op* op = nullptr;
  uint32_t explicit_inputs = 0;   ///< operands beyond these are captures by bodies
  SmallList<ValueId, 4> inputs;   ///< none id: a missing optional operand
  SmallList<ValueId, 4> outputs;  ///< none id: an optional output that is not requested
  Attributes attributes;
  Bodies bodies;
  std::shared_ptr<const Provenance> provenance;  ///< null: imported
  std::string name;

  const Placement* placement() const { return provenance ? provenance->placement.get() : nullptr; }
  const Retyping* retyping() const { return provenance ? provenance->retyping.get() : nullptr; }
  bool is(std::string_view op_name) const { return op->name == op_name && op->domain.empty(); }
  bool is(std::string_view domain, std::string_view op_name) const { return op->name == op_name && op->domain == domain; }
};

/// Whether two nodes have the same placement constraint, or none: rules join only such nodes.
inline bool same_placement(const Node& a, const Node& b) {
  const Placement *const p = a.placement(), *const q = b.placement();
  return p == q || (p && q && p->backend == q->backend);
}

/// Notified of every change of a graph; implemented by the rewriting driver and its journal. It is called after a change, for an erasure
/// before it. `before` is the old state.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void inserted(NodeId) {}
  virtual void erasing(NodeId) {}
  virtual void operand_changed(NodeId, uint32_t /*slot*/, ValueId /*before*/) {}
  virtual void output_changed(uint32_t /*slot*/, ValueId /*before*/) {}
  virtual void moved(NodeId) {}
  virtual void attribute_changed(NodeId, std::string_view /*name*/, const Attribute* /*before*/) {}
  virtual void value_added(ValueId) {}
  virtual void value_erasing(ValueId) {}
  virtual void value_renamed(ValueId, const std::string& /*before*/) {}
  virtual void type_changed(ValueId, const Type& /*before*/) {}
};

/// An SSA graph. Nodes are in a list that is always in topological order; use-lists are complete and incremental.
/// All edits are O(1) (amortised) but for what a function's comment says. Not thread-safe.
class Graph {
 public:
  /// A root graph; `ops` outlives it.
  explicit Graph(const OpTable& ops);
  /// A body: shares the symbols of `outer`.
  static std::unique_ptr<Graph> body_of(const Graph& outer);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  /// Deep copy, bodies included; constants are shared, and ids are equal in both. The copy has Symbols of its
  /// own where this is a root.
  std::unique_ptr<Graph> clone() const;
  /// Deep copy of a body for a node of `outer` (which may have other Symbols: symbols are matched by name).
  std::unique_ptr<Graph> clone_body(const Graph& outer) const;

  const OpTable& ops() const { return *ops_; }
  Symbols& symbols() const { return *symbols_; }
  std::string name;
  /// Opset imports of the source ("" -> 17, ...), for export; and free metadata.
  std::vector<std::pair<std::string, int64_t>> opsets;
  /// Of this graph's nodes, erased ones included; bodies have their own.
  Assumptions assumptions;

  // --- queries -----------------------------------------------------------------------------------------------
  /// Asserts that the id is not stale.
  const Node& node(NodeId id) const;
  const Value& value(ValueId id) const;
  bool alive(NodeId id) const;
  bool alive(ValueId id) const;
  std::span<const ValueId> inputs() const { return inputs_; }
  std::span<const ValueId> outputs() const { return outputs_; }
  size_t node_count() const { return live_nodes_; }
  size_t value_count() const { return live_values_; }
  NodeId first() const { return head_; }
  NodeId last() const { return tail_; }
  NodeId next(NodeId id) const;
  /// Prefetches into the cache what a visit of the node reads. For walks in a known order, some nodes ahead: first the node itself, then (a
  /// step or two later) its operands and results. Stale ids are allowed.
  void prefetch_node(NodeId id) const;
  void prefetch_values(NodeId id) const;
  NodeId previous(NodeId id) const;
  bool is_before(NodeId a, NodeId b) const;
  /// Whether the value is defined before `node` (none: the end of the graph), so that `node` may use it.
  bool is_defined_before(ValueId value, NodeId node) const;
  ValueId find_value(std::string_view name) const;
  /// The node that uses the value, where that is its only use; none where it has several uses or is an output.
  NodeId only_user(ValueId id) const;
  bool is_output(ValueId id) const;
  /// Values that last between runs: each pairs an input with an output. Only of a root graph.
  std::span<const State> states() const { return states_; }
  /// Null where the input, or the output of that slot, belongs to no state. Cost: the states.
  const State* state_of_input(ValueId input) const;
  const State* state_of_output(uint32_t slot) const;
  /// The public name of output `slot`; unchanged when the output gets another value.
  const std::string& output_name(uint32_t slot) const { return output_names_[slot]; }
  /// The constant's bytes where the value is a constant of at most `byte_limit` bytes (lazy ones are materialised and cached, so
  /// this is not thread-safe).
  const Tensor* tensor_of(ValueId id, int64_t byte_limit = 65536) const;
  /// The node as its op sees it, operands with constants and shape data attached.
  NodeView view(NodeId id) const;
  /// The view of a node before it is inserted: without results, bodies and name. `attributes` outlive it.
  NodeView view(const Op& op, std::span<const ValueId> inputs, const Attributes& attributes) const;

  /// for (NodeId n : graph.nodes()): in topological order. A live range, not a copy: of the nodes only the current one may be erased
  /// meanwhile; new ones may be inserted.
  class NodeRange;
  NodeRange nodes() const;
  /// A copy of the list of all values that are alive, in slot order.
  std::vector<ValueId> values() const;

  // --- editing -----------------------------------------------------------------------------------------------
  /// Names are made unique where they are taken.
  ValueId add_input(std::string name, Type type);
  ValueId add_constant(ConstantRef constant, std::string name = {});
  /// Sets the default of an input of a root graph, of its dtype; null removes it. Moves the input: those with defaults come after the
  /// others.
  void set_default(ValueId input, ConstantRef value);
  /// The number of inputs without a default.
  size_t required_inputs() const;
  /// Appends (or inserts before `before`). Operands must be defined earlier (asserted). Types of results are unknown until inferred.
  NodeId insert(const Op& op, std::vector<ValueId> inputs, size_t outputs, Attributes attributes = {}, NodeId before = {});
  /// Gives the node a body. The last `captures.size()` inputs of `graph` are its captured inputs; `captures` are appended to the operands
  /// of the node, in the same order.
  void attach_body(NodeId node, std::string name, std::unique_ptr<Graph> graph, std::span<const ValueId> captures);
  /// Adds a capture to body `index`. Returns the new input of the body. Cost: the node's operands.
  ValueId add_capture(NodeId node, size_t index, ValueId value);
  /// Removes capture `capture` of body `index`; its input must be unused. Cost: the node's operands.
  void drop_capture(NodeId node, size_t index, uint32_t capture);
  /// Body for editing.
  Graph& body(NodeId node, size_t index);
  /// name: empty: that of the value.
  void add_output(ValueId value, std::string name = {});
  void set_output(uint32_t slot, ValueId value);
  void set_output_name(uint32_t slot, std::string name);
  /// Also removes the state that it belongs to. Cost: the outputs after it, and the states.
  void erase_output(uint32_t slot);
  /// Adds a state, which check_state() must accept. Narrows the symbol of a growing axis to the capacity.
  void add_state(State state);
  /// `slot` may be one past the last operand where the node has no captures: the operand is appended.
  void set_operand(NodeId node, uint32_t slot, ValueId value);
  /// Drops missing operands at the end of the explicit ones, where the node has no captures.
  void trim_operands(NodeId node);
  /// Drops an unused result: its id becomes none; trailing ones go away unless `keep_slot`.
  void drop_result(NodeId node, uint32_t index, bool keep_slot = false);
  /// Replaces every use of `from` by `to`. Where `to` is defined later than a user, the user (and what depends on it) is moved
  /// after it; false, and nothing is changed, where that would make a cycle. Uses by `except` are kept. Cost: the uses, plus what is moved.
  bool replace_all_uses(ValueId from, ValueId to, NodeId except = {});
  /// Results must be unused.
  void erase(NodeId node);
  /// Erases an unused input or constant, and the state that the input belongs to.
  void erase_value(ValueId value);
  /// none: to the end. Operands must come before the new place, users after it (asserted). Cost: operands or uses.
  void move_before(NodeId node, NodeId before);
  void set_name(NodeId node, std::string name);
  void set_name(ValueId value, std::string name);
  /// Moves the name of `from` to `to`, which has none.
  void transfer_name(ValueId from, ValueId to);
  void set_type(ValueId value, Type type);
  void set_data(ValueId value, std::optional<ShapeData> data);
  void set_attribute(NodeId node, std::string name, Attribute value);
  void erase_attribute(NodeId node, std::string_view name);
  void set_provenance(NodeId node, std::shared_ptr<const Provenance> provenance);
  /// A name that no value has yet, made from `stem`.
  std::string unique_name(std::string_view stem) const;

  void set_listener(Listener* listener) { listener_ = listener; }
  Listener* listener() const { return listener_; }

 private:
  struct NodeSlot;
  struct ValueSlot;
  Graph(const OpTable& ops, std::shared_ptr<Symbols> symbols, bool is_body);
  NodeSlot& slot(NodeId id) const;
  ValueSlot& slot(ValueId id) const;
  ValueId new_value(Value::Kind kind);
  void release(ValueId id);
  void release(NodeId id);
  void link(NodeId id, NodeId before);
  void unlink(NodeId id);
  void make_room(uint64_t key, NodeId near);
  void renumber();
  uint32_t& position_of(Use use);
  void add_use(ValueId value, Use use);
  void drop_use(ValueId value, Use use);
  void repoint(Use use, ValueId to);
  void insert_operand(NodeId node, uint32_t slot, ValueId value);
  void remove_operand(NodeId node, uint32_t slot);
  void take_name(ValueId id, std::string name);
  auto name_of() const;
  bool collect_movers(ValueId from, NodeId anchor, NodeId except, std::vector<NodeId>& movers) const;
  void move_after(NodeId anchor, std::vector<NodeId>& movers);
  void copy_slots_to(Graph& copy) const;
  friend Result<void> verify(const Graph& graph);
  friend class Verifier;

  const OpTable* ops_;
  std::shared_ptr<Symbols> symbols_;
  bool is_body_ = false;
  Arena<NodeSlot> nodes_;
  Arena<ValueSlot> values_;
  std::vector<uint32_t> free_nodes_, free_values_;
  NodeId head_, tail_;
  size_t live_nodes_ = 0, live_values_ = 0;
  std::vector<ValueId> inputs_, outputs_;
  std::vector<uint32_t> output_positions_;  ///< where output k is in its value's use-list
  std::vector<std::string> output_names_;
  std::vector<State> states_;
  NameTable names_;
  mutable std::unordered_map<std::string, uint32_t> next_suffix_;  ///< unique_name(): the next number to try, by stem
  Listener* listener_ = nullptr;
};

class Graph::NodeRange {
 public:
  explicit NodeRange(const Graph& graph) : graph_(&graph) {}
  struct Iterator {
    const Graph* graph;
    NodeId at, after;
    NodeId operator*() const { return at; }
    Iterator& operator++() {
      at = graph->alive(at) ? graph->next(at) : after;
      after = at ? graph->next(at) : NodeId{};
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at == b.at; }
  };
  Iterator begin() const {
    NodeId first = graph_->first();
    return {graph_, first, first ? graph_->next(first) : NodeId{}};
  }
  Iterator end() const { return {graph_, {}, {}}; }

 private:
  const Graph* graph_;
};
inline Graph::NodeRange Graph::nodes() const { return NodeRange(*this); }

/// Whether the state can be added to the graph: an input and an output that belong to no other, of one dtype and, but for
/// the growing axis, one shape; that axis has a symbol alone in the input. Errors: bad_graph, naming both ends. Cost: the states.
Result<void> check_state(const Graph& graph, const State& state);

/// Runs the op's inference on the node and stores types and shape data of its results.
Result<void> infer(Graph& graph, NodeId node);
/// The same over all nodes in order.
Result<void> infer_all(Graph& graph);

}  // namespace tenon::ir
