// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "cli/compare/oracle.h"
#include "cli/options/input_options.h"
#include "ir/graph.h"

namespace tenon::cli {

/// Inputs for a graph: those that `options` names, random ones for the rest. A symbolic size is 2 where it is the first of a shape, else
/// 16, clamped to its bounds. Errors: those of InputOptions::inputs.
Result<std::vector<Tensor>> inputs_for(const ir::Graph& graph, const InputOptions& options);

/// Compares a rewritten graph with the original by the reference evaluator. Good: every output is within the tolerance of `tenon compare`,
/// or differs by at most 32 times the effect of rounding in the original.
class ReferenceOracle {
 public:
  /// Errors: those of ops::evaluate. Cost: two evaluations.
  static Result<ReferenceOracle> make(const ir::Graph& original, std::vector<Tensor> inputs);
  /// A graph that cannot be evaluated is bad. Cost: one evaluation.
  OracleAnswer judge(const ir::Graph& rewritten) const;

 private:
  std::vector<Tensor> inputs_, expected_;
  std::vector<double> rounding_;
};

}  // namespace tenon::cli
