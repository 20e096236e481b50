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

/// The interface by which a rule changes the graph: it adds inferred nodes and constants, and maps old values to new ones.
/// Replacements are carried out by the driver after the rule has returned, so that a refused rewrite leaves no trace.
/// The first error is kept; later calls return none ids.
class Rewriter {
 public:
  Rewriter(Graph& graph, NodeId before) : graph_(graph), place_(before), build_(std::in_place, graph, before) {}

  const Graph& graph() const { return graph_; }
  ValueId operator()(std::string_view op, std::vector<ValueId> inputs, std::vector<std::pair<std::string, ir::Attribute>> attributes = {}) {
    return (*build_)(op, std::move(inputs), std::move(attributes));
  }
  std::vector<ValueId> many(std::string_view op, std::vector<ValueId> inputs, size_t outputs,
                            std::vector<std::pair<std::string, ir::Attribute>> attributes = {}) {
    return build_->many(op, std::move(inputs), outputs, std::move(attributes));
  }
  std::vector<ValueId> many(const ir::Op& op, std::vector<ValueId> inputs, size_t outputs, ir::Attributes attributes = {}) {
    return build_->many(op, std::move(inputs), outputs, std::move(attributes));
  }
  /// The same op with the same attributes on other operands; one id a result of `like`.
  std::vector<ValueId> again(NodeId like, std::vector<ValueId> inputs);
  ValueId constant(Tensor tensor) { return build_->constant(std::move(tensor)); }
  ValueId constant(ir::ConstantRef constant) { return build_->constant(std::move(constant)); }
  ValueId ints(std::vector<int64_t> values) { return build_->ints(std::move(values)); }
  ValueId scalar(DType dtype, double value) { return build_->scalar(dtype, value); }

  /// Every use of `from` shall become one of `to`. `to` must mean the same: same dtype, no contradicting shape.
  void replace(ValueId from, ValueId to) { replacements_.push_back({from, to}); }

  /// For rules that edit in place: every edit is logged and taken back where the rewrite is refused. Nothing may be erased; what nobody
  /// uses afterwards the driver removes. The values that users are pointed at must have the types of those they replace.
  Graph& edit() { return graph_; }
  /// New nodes go before this one; none: to the end.
  NodeId place() const { return place_; }
  /// From now on new nodes go after `node`, where that comes after the place; users of what is replaced are moved.
  void insert_after(NodeId node);

  const Result<void>& status() const { return build_->status(); }
  const std::vector<std::pair<ValueId, ValueId>>& replacements() const { return replacements_; }

 private:
  Graph& graph_;
  NodeId place_;
  std::optional<ir::Builder> build_;  ///< always there: made anew where the place moves
  std::vector<std::pair<ValueId, ValueId>> replacements_;
};

}  // namespace tenon::rewrite
