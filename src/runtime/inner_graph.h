// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "runtime/engine.h"

namespace tenon::runtime {

class Frame;

/// A graph that a segment runs within its own run (Role::inner_graph), in one context. One thread at a time.
class InnerGraph {
 public:
  /// engine: outlives it. number: in its table of programs.
  InnerGraph(const Engine& engine, uint32_t number);
  ~InnerGraph();
  InnerGraph(InnerGraph&&) noexcept;

  size_t operand_count() const { return program_->inputs.size(); }
  size_t result_count() const { return program_->outputs.size(); }
  /// results: where they go; they share no bytes with each other or with operands. The run is part of the one that the segment is run by:
  /// it does not queue for the thread pool. Allocates nothing once it has seen the sizes.
  /// Errors: bad_input for what the graph does not take or give; those of Context::run.
  Result<void> run(std::span<const Tensor> operands, std::span<const Tensor> results, const RunOptions& options);

 private:
  Result<void> check_results(std::span<const Tensor> operands, std::span<const Tensor> results);
  bool is_checked(std::span<const Tensor> operands, std::span<const Tensor> results) const;

  const Program* program_;
  std::unique_ptr<Frame> frame_;
  std::vector<Sizes> operand_sizes_, result_sizes_;  ///< that were checked last
};

}  // namespace tenon::runtime
