// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "cli/bench/trace.h"
#include "codegen/cost/predict.h"
#include "compiler/plan_record.h"

namespace tenon::cli {

/// Steps of one label that are cut alike, with what was predicted of them.
struct ExplainedKernel {
  std::string label, tactic, why, limit;
  size_t calls = 0;
  double ms = 0, predicted_ms = 0;  ///< a run: of all calls together
  double limit_ms = 0;              ///< what the limit alone takes
  std::vector<double> errors = {};  ///< of each call: |predicted - measured| / measured
};

/// What of a compiled model predictions follow from.
class Explanation {
 public:
  /// graph: its symbols are those of the plan's sizes. tactics: of each kernel.
  Explanation(std::unique_ptr<ir::Graph> graph, compiler::PlanRecord plan, std::vector<std::string> tactics, const codegen::Target& target)
      : graph_(std::move(graph)), plan_(std::move(plan)), tactics_(std::move(tactics)), target_(target) {}

  /// Of runs of the entry's own program. The longest first. Steps without a kernel, and those whose sizes depend on data, are left out.
  Result<std::vector<ExplainedKernel>> kernels(const runtime::Engine& engine, std::span<const Tensor> inputs, const Profile& profile,
                                               const codegen::Machine& machine, size_t entry = 0) const;

 private:
  std::unique_ptr<ir::Graph> graph_;
  compiler::PlanRecord plan_;
  std::vector<std::string> tactics_;
  const codegen::Target& target_;
};

/// Of the relative errors of all calls; 0 where there are none.
double median_error(const std::vector<ExplainedKernel>& kernels);

}  // namespace tenon::cli
