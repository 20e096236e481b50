// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "cli/bench/trace.h"
#include "codegen/cost/predict.h"
#include "compiler/plan_record.h"

namespace tenon::cli {

/// Steps with one label and one tactic: their measured times, and the predictions of the cost model.
struct ExplainedKernel {
  std::string label, tactic;
  std::string why;    ///< the reason for the tactic
  std::string limit;  ///< the resource that limits the predicted time
  size_t calls = 0;
  double ms = 0, predicted_ms = 0;  ///< of all calls in a run
  double limit_ms = 0;              ///< predicted time for the limiting resource alone
  std::vector<double> errors = {};  ///< of each call: |predicted - measured| / measured
};

/// The data of a compiled model from which predictions are computed: graph, plan, tactics, target.
class Explanation {
 public:
  /// graph: its symbols are those of the plan's sizes. tactics: of each kernel.
  Explanation(std::unique_ptr<ir::Graph> graph, compiler::PlanRecord plan, std::vector<std::string> tactics, const codegen::Target& target)
      : graph_(std::move(graph)), plan_(std::move(plan)), tactics_(std::move(tactics)), target_(target) {}

  /// The kernels of the entry's own program, the slowest first, without those whose sizes depend on data. profile: of runs of that program.
  Result<std::vector<ExplainedKernel>> kernels(const runtime::Engine& engine, std::span<const Tensor> inputs, const Profile& profile,
                                               const codegen::Machine& machine, size_t entry = 0) const;

 private:
  std::unique_ptr<ir::Graph> graph_;
  compiler::PlanRecord plan_;
  std::vector<std::string> tactics_;
  const codegen::Target& target_;
};

/// The median of the relative errors of all calls; 0 where there are none.
double median_error(const std::vector<ExplainedKernel>& kernels);

}  // namespace tenon::cli
