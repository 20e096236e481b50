// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "plugin/added_graphs.h"
#include "plugin/run/inner_graphs.h"

namespace tenon::ops {

/// Inner graphs of a node, run by reference: for who calls a plugin without an engine. A thread has its own.
class EvaluatedGraphs final : public plugin::InnerGraphs {
 public:
  /// added: in the order of their numbers. Null: there are none. ops: outlives it. Errors: bad_graph, naming the graph by `place` and
  /// number.
  static Result<std::unique_ptr<EvaluatedGraphs>> make(std::span<const plugin::AddedGraph> added, const ir::OpTable& ops,
                                                       const std::string& place);

  uint32_t count() const override { return static_cast<uint32_t>(graphs_.size()); }
  Ports ports(uint32_t number) const override { return {graphs_[number]->inputs().size(), graphs_[number]->outputs().size()}; }
  /// Errors: those of evaluate(); limit_exceeded where graphs run graphs too deep.
  Result<void> run(uint32_t number, std::span<const Tensor> operands, std::span<const Tensor> results) override;

 private:
  std::vector<std::unique_ptr<ir::Graph>> graphs_;
};

/// Those of a node, including the constants of its view. Errors: those of plugin::added_graphs.
Result<std::vector<plugin::AddedGraph>> added_graphs_of(const ir::NodeView& view, const plugin::Object& object);

}  // namespace tenon::ops
