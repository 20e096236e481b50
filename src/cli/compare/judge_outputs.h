// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/judge.h"
#include "cli/compare/in_precision.h"
#include "cli/compare/stepped_runs.h"

namespace tenon::cli {

class Console;

/// The difference of a result from the fp64 reference.
struct OutputDistance {
  std::string name, type;
  size_t step = 0;
  bool is_state = false;
  Distance ours;
  std::optional<Distance> other = {};
  std::optional<Distance> rounded =
      {};                ///< the difference that rounding each node's result causes; computed where `ours` exceeds its tolerance
  double decisions = 0;  ///< as `perturbed` of rounding_with_decisions
  std::optional<double> small_half = {};  ///< error_of_small_half, where the inputs have an outlier
  bool rounds_operands = false;           ///< of products: twice the difference that this causes is accepted
  double rounding() const { return rounded ? rounding_with_decisions(rounded->largest, decisions) : 0; }
  bool explained() const {
    return rounded && (is_explained_by_decisions(ours, rounded->largest, decisions) || (rounds_operands && is_good(ours, rounded)));
  }
  bool good() const { return is_good(ours, other) || explained(); }
};

/// How results are compared.
struct JudgeOptions {
  ProductRounding rounding = {};
  bool has_outlier = false;  ///< the inputs have one (put_outlier)
};

/// Compares results with the reference, in their order. others: those of another engine; may be empty. Errors: those of the evaluator.
/// Cost: an evaluation of all steps, and two or three where a result is beyond its bound.
Result<std::vector<OutputDistance>> judge_outputs(const ir::Graph& graph, const InputsOfSteps& inputs, const SteppedResults& results,
                                                  const SteppedResults& others, const JudgeOptions& options, Console& console);

}  // namespace tenon::cli
