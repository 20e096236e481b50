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

/// The inner graphs of a plugin's node, run by reference; used where a plugin runs without an engine. Each thread has its own.
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

/// The inner graphs that the plugin adds for a node; the constants of the view are passed to it. Errors: those of plugin::added_graphs.
Result<std::vector<plugin::AddedGraph>> added_graphs_of(const ir::NodeView& view, const plugin::Object& object);

}  // namespace tenon::ops
