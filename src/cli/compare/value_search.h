// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/judge.h"
#include "compiler/compile.h"
#include "ir/graph.h"
#include "runtime/engine.h"

namespace tenon::cli {

/// A compiled copy of a graph and its results, in memory of the context.
struct EngineRun {
  std::shared_ptr<runtime::Engine> engine;
  std::unique_ptr<runtime::Context> context;
  std::vector<Tensor> results;  ///< of the graph's outputs, then of the extra ones
};
/// Compiles a copy of the graph with `extra` values as further outputs. Fusion stops at outputs, so that these values are computed
/// separately.
Result<std::shared_ptr<runtime::Engine>> compile_with(const ir::Graph& graph, std::span<const ir::ValueId> extra,
                                                      const compiler::CompileOptions& options);
Result<EngineRun> run_engine(std::shared_ptr<runtime::Engine> engine, std::span<const Tensor> inputs, const runtime::RunOptions& options);

/// The floating results of the graph's nodes, in graph order; no graph outputs.
std::vector<ir::ValueId> float_values(const ir::Graph& graph);

/// The difference of a value from the fp64 reference.
struct ValueDistance {
  ir::ValueId value;
  DType dtype = DType::none;
  Distance distance;
  double rounding = 0;  ///< see roundings(); filled where the distance is beyond its bound
  bool bad() const { return is_bad(distance, rounding); }
};

/// The arguments of a search for wrong values: the imported graph, its inputs, and how to compile and run it.
struct ValueSearch {
  const ir::Graph& graph;
  std::span<const Tensor> inputs;
  const compiler::CompileOptions& options;
  runtime::RunOptions run = {};
};
/// For each value the difference that rounding alone causes: between the reference evaluator that rounds each node's results to their
/// dtypes and the one in fp64, with the effect of earlier nodes; including discrete decisions (comparisons, rounding to integers) that
/// change where roundings are perturbed. values: node results. Cost: three evaluations; memory for those values.
Result<std::vector<double>> roundings(const ValueSearch& search, std::span<const ir::ValueId> values);

/// Compares every floating value with the fp64 reference, in graph order, with one engine that has all of them as outputs.
Result<std::vector<ValueDistance>> compare_values(const ValueSearch& search);
/// Finds the first bad value by bisection: each probe compiles an engine with one value as a further output. For errors of fusion, which
/// vanish when every value is an output. Assumes that values after a bad one are bad too. nullopt: no value but outputs is bad.
Result<std::optional<ValueDistance>> bisect_values(const ValueSearch& search);

}  // namespace tenon::cli
