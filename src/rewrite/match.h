// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <any>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace tenon::rewrite {

using ir::Graph;
using ir::Ints;
using ir::Node;
using ir::NodeId;
using ir::Value;
using ir::ValueId;

/// Read-only queries of a graph for rules. A query about a missing operand, or about a result of another op, returns none, false or
/// nullopt.
class GraphQuery {
 public:
  explicit GraphQuery(const Graph& graph) : graph_(&graph) {}
  const Graph& graph() const { return *graph_; }
  const Node& node(NodeId id) const { return graph_->node(id); }
  const Value& value(ValueId id) const { return graph_->value(id); }

  /// The node whose result `value` is, where its op is `op` ("com.microsoft::Gelu" for another domain); else none.
  NodeId producer(ValueId value, std::string_view op) const;
  /// The node whose result `value` is; none for inputs, constants and missing operands.
  NodeId producer(ValueId value) const;
  /// Operand `slot`; none where it is missing.
  ValueId operand(NodeId node, size_t slot) const;
  ValueId result(NodeId node, size_t index = 0) const { return graph_->node(node).outputs[index]; }

  bool is_constant(ValueId value) const { return value && graph_->value(value).is_constant(); }
  /// The number that all elements of a constant have in common (scalar or splat); nullopt where there is none.
  std::optional<double> number(ValueId value) const;
  /// Whether the value is a scalar or splat constant equal to `expected` up to the tolerance of its dtype (exact for integers and 0).
  bool is_number(ValueId value, double expected) const;
  /// Whether the value is a constant of this shape whose elements equal those of `expected`, floats up to the tolerance of its dtype (which
  /// may be another float).
  bool is_tensor(ValueId value, const Tensor& expected) const;
  /// Elements of a small integer constant.
  std::optional<Ints> ints(ValueId value) const;
  /// Attribute `name` (with newest semantics also operand `input`), resolved to integers.
  std::optional<Ints> ints(NodeId node, std::string_view attribute, int input = -1) const;
  /// An axis attribute, counted from the first axis of `of`; `default_axis` where the node lacks it. nullopt where the rank of `of` is not
  /// known, or the axis is out of range.
  std::optional<int> axis(NodeId node, std::string_view attribute, int64_t default_axis, ValueId of) const;

  std::optional<int> rank(ValueId value) const;
  DType dtype(ValueId value) const { return graph_->value(value).type.dtype; }
  /// Known shape; nullptr where the rank is not known or the operand is missing.
  const DimList* shape(ValueId value) const;
  /// Whether both shapes are known and equal for every value of the symbols.
  bool same_shape(ValueId a, ValueId b) const;
  bool same_type(ValueId a, ValueId b) const { return dtype(a) == dtype(b) && same_shape(a, b); }
  /// How many node operands, outputs and captures use the value.
  size_t use_count(ValueId value) const { return graph_->value(value).uses.size(); }

 private:
  const Graph* graph_;
};

/// The queries of a code rule's match function that failed, in their order: why.h explains a missing match with them.
struct MatchTrace {
  struct FailedQuery {
    ValueId value;         ///< what the query was about
    std::string expected;  ///< the op or the number that `value` should have had
    size_t depth;          ///< how many nodes the match had when the query failed
  };
  std::vector<FailedQuery> failed_queries;
};

/// One attempt to match one rule at one node (the root), with the nodes that it has matched so far.
class Match : public GraphQuery {
 public:
  Match(const Graph& graph, NodeId root, const std::any* args = nullptr) : GraphQuery(graph), root_(root), args_(args) {
    nodes.push_back(root);
  }
  NodeId root() const { return root_; }
  /// Options::args of the driver, whatever its type; may be null.
  const std::any* all_args() const { return args_; }
  /// Options::args of the driver as a T; nullptr where the caller passed none, or another type.
  template <class T>
  const T* args() const {
    return args_ ? std::any_cast<T>(args_) : nullptr;
  }

  /// The rule does not match, for this reason, which statistics and explanations show. Always false: `return m.refuse(...)`. The text must
  /// live for ever (a literal). `at`: the value or node that the reason is about.
  bool refuse(std::string_view reason, ValueId at = {}) {
    reason_ = reason;
    refused_at_ = at;
    return false;
  }
  bool refuse(std::string_view reason, NodeId at) { return refuse(reason, graph().node(at).outputs.empty() ? ValueId{} : result(at)); }
  std::string_view reason() const { return reason_; }
  ValueId refused_at() const { return refused_at_; }

  using GraphQuery::producer;
  /// As in GraphQuery; a failed query is recorded in the trace.
  NodeId producer(ValueId value, std::string_view op) const {
    const NodeId found = GraphQuery::producer(value, op);
    if (trace_ && !found) [[unlikely]]
      record_failed_query(value, std::string(op));
    return found;
  }
  bool is_number(ValueId value, double expected) const {
    const bool is = GraphQuery::is_number(value, expected);
    if (trace_ && !is) [[unlikely]]
      record_failed_query(value, expected);
    return is;
  }
  /// Where failed queries are recorded from now on; null: nowhere, which costs nothing.
  void set_trace(MatchTrace* trace) { trace_ = trace; }

  /// Adds a node to the match: its results may have no users outside of the match, unless the rule sets `allow_outside_uses`.
  void take(NodeId node) { nodes.push_back(node); }
  /// producer(value, op), added to the match where it is found.
  NodeId take(ValueId value, std::string_view op) {
    NodeId found = producer(value, op);
    if (found) take(found);
    return found;
  }

  /// The rule matches; `state` is what its rewrite function needs of the match. Always true: `return m.accept(...)`.
  template <class T>
  bool accept(T state) {
    state_ = std::move(state);
    return true;
  }
  template <class T>
  bool has_state() const {
    return std::any_cast<T>(&state_) != nullptr;
  }
  /// The T that `accept` was called with.
  template <class T>
  const T& state() const {
    return *std::any_cast<T>(&state_);
  }

  ir::SmallList<NodeId, 8> nodes;  ///< the matched nodes: the root first, then those that `take` added
  /// Matched nodes whose results are replaced as the root's are, so that they may have users outside.
  ir::SmallList<NodeId, 2> other_roots;

 private:
  NodeId root_;
  const std::any* args_;
  void record_failed_query(ValueId value, std::string expected) const;
  void record_failed_query(ValueId value, double expected) const;

  MatchTrace* trace_ = nullptr;
  std::string_view reason_;
  ValueId refused_at_;
  std::any state_;
};

}  // namespace tenon::rewrite
