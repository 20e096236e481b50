// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "cli/compare/oracle.h"
#include "cli/options/input_options.h"
#include "ir/graph.h"

namespace tenon::cli {

/// Inputs for a graph: those given, random ones for the rest. Each symbol has one size everywhere: 2 where it leads a shape, else 16,
/// inside its bounds. Errors: those of InputOptions::inputs.
Result<std::vector<Tensor>> inputs_for(const ir::Graph& graph, const InputOptions& options);

/// Judges a rewritten graph by running it and the original through the reference evaluator. Good: every output is within the
/// bound of `tenon compare`, or no further off than 32 times what rounding does to it in the original.
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
