// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ops/reference/evaluate.h"

namespace tenon::ops {

/// Runs a graph with states by reference, step after step. Several entries over the same states are several graphs.
class StatefulRun {
 public:
  explicit StatefulRun(EvaluateOptions options = {}) : options_(std::move(options)) {}

  /// One step. inputs: those of the graph that are no states', in order. Returns the outputs that are no states'; the others become the
  /// states' values. Errors: those of evaluate(); bad_input where a growing state exceeds its capacity.
  Result<std::vector<Tensor>> step(const ir::Graph& graph, std::span<const Tensor> inputs);
  /// Null before the first step of a graph that has it.
  const Tensor* state(std::string_view name) const;
  /// Initial values from now on.
  void reset() { values_.clear(); }

 private:
  EvaluateOptions options_;
  std::map<std::string, Tensor, std::less<>> values_;
};

}  // namespace tenon::ops
