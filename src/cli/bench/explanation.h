// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "cli/bench/trace.h"
#include "codegen/cost/predict.h"
#include "compiler/compile.h"

namespace tenon::cli {

/// Steps of one label that are cut alike, beside what was predicted of them.
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
  /// Takes the graph, which keeps the sizes; the rest of `compiled` stays.
  Explanation(compiler::Compiled& compiled, const codegen::Target& target);

  /// The longest first. Steps without a kernel, and those whose sizes depend on data, are left out. Errors: not_supported for inputs that
  /// another program runs than the one that was compiled for their sizes.
  Result<std::vector<ExplainedKernel>> kernels(const runtime::Engine& engine, std::span<const Tensor> inputs, const Profile& profile,
                                               const codegen::Machine& machine) const;

 private:
  std::unique_ptr<ir::Graph> graph_;
  std::vector<codegen::Work> work_of_step_;
  std::vector<std::string> tactics_;  ///< of each kernel
  const codegen::Target& target_;
};

/// Of the relative errors of all calls; 0 where there are none.
double median_error(const std::vector<ExplainedKernel>& kernels);

}  // namespace tenon::cli
