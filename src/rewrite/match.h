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

/// Read-only queries of a graph for rules. Missing operands and results of other ops answer "no".
class GraphQuery {
 public:
  explicit GraphQuery(const Graph& graph) : graph_(&graph) {}
  const Graph& graph() const { return *graph_; }
  const Node& node(NodeId id) const { return graph_->node(id); }
  const Value& value(ValueId id) const { return graph_->value(id); }

  /// The node that makes `value` where its op is `op` ("com.microsoft::Gelu" for another domain); else none.
  NodeId made_by(ValueId value, std::string_view op) const;
  /// The node that makes `value`; none for inputs, constants and missing operands.
  NodeId producer(ValueId value) const;
  /// Operand `slot`; none where it is missing.
  ValueId operand(NodeId node, size_t slot) const;
  ValueId result(NodeId node, size_t index = 0) const { return graph_->node(node).outputs[index]; }

  bool is_constant(ValueId value) const { return value && graph_->value(value).is_constant(); }
  /// The number that all elements of a constant have in common (scalar or splat); nullopt where there is none.
  std::optional<double> number(ValueId value) const;
  /// Scalar or splat constant equal to `wanted` up to the tolerance of its dtype (exact for integers and 0).
  bool is_number(ValueId value, double wanted) const;
  /// Constant of this shape whose elements equal those of `wanted`, floats up to the tolerance of its dtype (which may be another float).
  bool is_tensor(ValueId value, const Tensor& wanted) const;
  /// Elements of a small integer constant.
  std::optional<Ints> ints(ValueId value) const;
  /// Attribute `name` (with newest semantics also operand `input`), resolved to integers.
  std::optional<Ints> ints(NodeId node, std::string_view attribute, int input = -1) const;
  /// Axis attribute, brought into 0..rank-1; nullopt where the rank is not known.
  std::optional<int> axis(NodeId node, std::string_view attribute, int64_t otherwise, ValueId of) const;

  std::optional<int> rank(ValueId value) const;
  DType dtype(ValueId value) const { return graph_->value(value).type.dtype; }
  /// Known shape; nullptr where the rank is not known or the operand is missing.
  const DimList* shape(ValueId value) const;
  /// Both known, and equal dim by dim for every value of the symbols.
  bool same_shape(ValueId a, ValueId b) const;
  bool same_type(ValueId a, ValueId b) const { return dtype(a) == dtype(b) && same_shape(a, b); }
  /// How many node operands, outputs and captures use the value.
  size_t use_count(ValueId value) const { return graph_->value(value).uses.size(); }

 private:
  const Graph* graph_;
};

/// Failed queries of a code rule, for why.h.
struct MatchTrace {
  struct FailedQuery {
    ValueId value;
    std::string wanted;  ///< an op, or a number
    size_t depth;        ///< nodes taken before
  };
  std::vector<FailedQuery> missed;
};

/// One attempt of one rule at one node, and what it found.
class Match : public GraphQuery {
 public:
  Match(const Graph& graph, NodeId root, const std::any* args = nullptr) : GraphQuery(graph), root_(root), args_(args) {
    nodes.push_back(root);
  }
  NodeId root() const { return root_; }
  const std::any* all_args() const { return args_; }
  /// What the caller of the driver gave to the rules (Options::args); nullptr where it gave none, or another type.
  template <class T>
  const T* args() const {
    return args_ ? std::any_cast<T>(args_) : nullptr;
  }

  /// "does not match", with a reason for statistics and traces; the text must live for ever (a literal). `at`: what the reason is about.
  bool refuse(std::string_view reason, ValueId at = {}) {
    reason_ = reason;
    refused_at_ = at;
    return false;
  }
  bool refuse(std::string_view reason, NodeId at) { return refuse(reason, graph().node(at).outputs.empty() ? ValueId{} : result(at)); }
  std::string_view reason() const { return reason_; }
  ValueId refused_at() const { return refused_at_; }

  /// As in GraphQuery; a failed query is recorded in the trace.
  NodeId made_by(ValueId value, std::string_view op) const {
    const NodeId found = GraphQuery::made_by(value, op);
    if (trace_ && !found) [[unlikely]]
      missed(value, std::string(op));
    return found;
  }
  bool is_number(ValueId value, double wanted) const {
    const bool is = GraphQuery::is_number(value, wanted);
    if (trace_ && !is) [[unlikely]]
      missed(value, wanted);
    return is;
  }
  /// From now on misses go there; null: nowhere, which costs nothing.
  void set_trace(MatchTrace* trace) { trace_ = trace; }

  /// Counts a node as part of the match: its results may not be used outside, unless the rule says `shared`.
  void take(NodeId node) { nodes.push_back(node); }
  /// made_by, and taken when found.
  NodeId take(ValueId value, std::string_view op) {
    NodeId found = made_by(value, op);
    if (found) take(found);
    return found;
  }

  /// What match hands to rewrite. Always true: `return m.keep(...)` says that the rule matches.
  template <class T>
  bool keep(T state) {
    state_ = std::move(state);
    return true;
  }
  template <class T>
  bool has_kept() const {
    return std::any_cast<T>(&state_) != nullptr;
  }
  template <class T>
  const T& kept() const {
    return *std::any_cast<T>(&state_);
  }

  ir::SmallList<NodeId, 8> nodes;        ///< the root first, then what was taken
  ir::SmallList<NodeId, 2> other_roots;  ///< nodes whose results are replaced too; they may be used by anyone

 private:
  NodeId root_;
  const std::any* args_;
  void missed(ValueId value, std::string wanted) const;
  void missed(ValueId value, double wanted) const;

  MatchTrace* trace_ = nullptr;
  std::string_view reason_;
  ValueId refused_at_;
  std::any state_;
};

}  // namespace tenon::rewrite
