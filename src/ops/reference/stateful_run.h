// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ops/reference/evaluate.h"

namespace tenon::ops {

/// Runs a graph with states by reference, step after step. Entries of one engine are graphs of their own with states of the same names.
class StatefulRun {
 public:
  explicit StatefulRun(EvaluateOptions options = {}) : options_(std::move(options)) {}

  /// One step. inputs: the graph's inputs but those of states, in order. Returns its outputs but those of states, which become the states'
  /// values. Errors: those of evaluate(); bad_input where a growing state exceeds its capacity.
  Result<std::vector<Tensor>> step(const ir::Graph& graph, std::span<const Tensor> inputs);
  /// The value of a state; null before the first step of a graph that has it.
  const Tensor* state(std::string_view name) const;
  /// Resets all states to their initial values.
  void reset() { values_.clear(); }

 private:
  EvaluateOptions options_;
  std::map<std::string, Tensor, std::less<>> values_;
};

}  // namespace tenon::ops
