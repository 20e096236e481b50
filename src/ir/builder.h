// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <initializer_list>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace tenon::ir {

/// Inserts nodes at one place of a graph and infers their types. After the first error every call returns none, so that a rewrite needs no
/// checks in between; check `status()` at the end.
class Builder {
 public:
  /// Appends at the end, or before `before`.
  explicit Builder(Graph& graph, NodeId before = {}) : graph_(graph), before_(before) {}

  Graph& graph() { return graph_; }
  void set_provenance(Provenance provenance) { provenance_ = std::make_shared<const Provenance>(std::move(provenance)); }
  /// One result. Op by name ("Add"; "com.microsoft::Gelu" for another domain).
  ValueId operator()(std::string_view op, std::vector<ValueId> inputs, std::vector<std::pair<std::string, Attribute>> attributes = {});
  /// Several results.
  std::vector<ValueId> many(std::string_view op, std::vector<ValueId> inputs, size_t outputs,
                            std::vector<std::pair<std::string, Attribute>> attributes = {});
  std::vector<ValueId> many(const Op& op, std::vector<ValueId> inputs, size_t outputs, Attributes attributes = {});
  /// Several results of a node with a body: the body's last `captures.size()` inputs are the captured values.
  std::vector<ValueId> with_body(std::string_view op, std::vector<ValueId> inputs, size_t outputs, std::unique_ptr<Graph> body,
                                 std::span<const ValueId> captures, std::vector<std::pair<std::string, Attribute>> attributes = {});
  ValueId constant(Tensor tensor);
  /// Errors: not_supported for an expression over bytes that were not read (Constant::Reference).
  ValueId constant(ConstantRef constant);
  ValueId ints(std::vector<int64_t> values);  ///< i64[n]
  ValueId scalar(DType dtype, double value);  ///< rank 0
  const Result<void>& status() const { return status_; }
  /// Sets `status()` to an error of the caller, unless there is one already.
  void refuse(Error error) {
    if (status_) status_ = std::unexpected(std::move(error));
  }

 private:
  /// The node, before inference; none where `status_` has an error.
  NodeId insert(std::string_view op, std::vector<ValueId> inputs, size_t outputs,
                std::vector<std::pair<std::string, Attribute>> attributes);
  NodeId insert(const Op& op, std::vector<ValueId> inputs, size_t outputs, Attributes attributes);
  std::vector<ValueId> results_of(NodeId node);

  Graph& graph_;
  NodeId before_;
  std::shared_ptr<const Provenance> provenance_;
  Result<void> status_;
};

}  // namespace tenon::ir
