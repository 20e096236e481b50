// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "rewrite/match.h"

namespace tenon::rewrite {

/// The interface by which a rule changes the graph: it inserts nodes, whose types it infers, and constants, and states which old values
/// they replace. The driver carries the replacements out after the rule has returned, so that a refused rewrite leaves the graph as it was.
/// After an error all calls return none; `status` has the first error.
class Rewriter {
 public:
  /// before: where new nodes go, see place().
  Rewriter(Graph& graph, NodeId before) : graph_(graph), place_(before), build_(std::in_place, graph, before) {}

  const Graph& graph() const { return graph_; }
  /// Inserts a node with one result.
  ValueId operator()(std::string_view op, std::vector<ValueId> inputs, std::vector<std::pair<std::string, ir::Attribute>> attributes = {}) {
    return (*build_)(op, std::move(inputs), std::move(attributes));
  }
  /// Inserts a node with `outputs` results.
  std::vector<ValueId> many(std::string_view op, std::vector<ValueId> inputs, size_t outputs,
                            std::vector<std::pair<std::string, ir::Attribute>> attributes = {}) {
    return build_->many(op, std::move(inputs), outputs, std::move(attributes));
  }
  std::vector<ValueId> many(const ir::Op& op, std::vector<ValueId> inputs, size_t outputs, ir::Attributes attributes = {}) {
    return build_->many(op, std::move(inputs), outputs, std::move(attributes));
  }
  /// Inserts a node with the op and the attributes of `like`, and with other operands; returns its results, as many as `like` has.
  std::vector<ValueId> clone_with_operands(NodeId like, std::vector<ValueId> inputs);
  ValueId constant(Tensor tensor) { return build_->constant(std::move(tensor)); }
  ValueId constant(ir::ConstantRef constant) { return build_->constant(std::move(constant)); }
  ValueId ints(std::vector<int64_t> values) { return build_->ints(std::move(values)); }
  ValueId scalar(DType dtype, double value) { return build_->scalar(dtype, value); }

  /// When the rule has returned, every use of `from` becomes one of `to`, which must have its dtype and no contradicting shape.
  void replace(ValueId from, ValueId to) { replacements_.push_back({from, to}); }

  /// For rules that edit in place: the driver logs every edit and undoes it where the rewrite is refused. Nothing may be erased; the driver
  /// removes nodes that have no user afterwards. A new operand must have the type of the one it replaces.
  Graph& edit() { return graph_; }
  /// New nodes are inserted before this one; none: at the end of the graph.
  NodeId place() const { return place_; }
  /// From now on new nodes are inserted after `node`, where that comes after place(); users of replaced values that come before the new
  /// nodes are moved.
  void insert_after(NodeId node);

  const Result<void>& status() const { return build_->status(); }
  const std::vector<std::pair<ValueId, ValueId>>& replacements() const { return replacements_; }

 private:
  Graph& graph_;
  NodeId place_;
  std::optional<ir::Builder> build_;  ///< never empty; optional, because it is constructed anew where place_ changes
  std::vector<std::pair<ValueId, ValueId>> replacements_;
};

}  // namespace tenon::rewrite
