// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <vector>

#include "plugin/run/inner_graphs.h"
#include "plugin/saved.h"
#include "runtime/device.h"
#include "runtime/inner_graph.h"

namespace tenon::backends {

/// The inner graphs of a node in one context, compiled with its engine.
class NodeGraphs final : public plugin::InnerGraphs {
 public:
  /// Null: the node has none. Errors: bad_file.
  static Result<std::unique_ptr<NodeGraphs>> make(const plugin::Saved& saved, const runtime::BlobView& blob);

  /// Sets the options of the runs that follow.
  void begin(const runtime::RunOptions& options, int threads);
  uint32_t count() const override { return static_cast<uint32_t>(graphs_.size()); }
  Ports ports(uint32_t number) const override { return {graphs_[number].operand_count(), graphs_[number].result_count()}; }
  Result<void> run(uint32_t number, std::span<const Tensor> operands, std::span<const Tensor> results) override {
    return graphs_[number].run(operands, results, options_);
  }

 private:
  std::vector<runtime::InnerGraph> graphs_;
  runtime::RunOptions options_;
};

}  // namespace tenon::backends
