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
/// Compiles a copy of the graph with `extra` values as further outputs. Fusion stops at an output: a value that nobody else sees is
/// not computed on its own where it is no output.
Result<std::shared_ptr<runtime::Engine>> compile_with(const ir::Graph& graph, std::span<const ir::ValueId> extra,
                                                      const compiler::CompileOptions& options);
Result<EngineRun> run_engine(std::shared_ptr<runtime::Engine> engine, std::span<const Tensor> inputs, const runtime::RunOptions& options);

/// The floating results of the graph's nodes, in graph order; no graph outputs.
std::vector<ir::ValueId> float_values(const ir::Graph& graph);

struct ValueDistance {
  ir::ValueId value;
  DType dtype = DType::none;
  Distance distance;
  double rounding = 0;  ///< see roundings(); filled where the distance is beyond its bound
  bool bad() const { return is_bad(distance, rounding); }
};

/// What a search needs: the graph as imported, inputs, and how to compile and run it.
struct ValueSearch {
  const ir::Graph& graph;
  std::span<const Tensor> inputs;
  const compiler::CompileOptions& options;
  runtime::RunOptions run = {};
};
/// What rounding alone does to values: the largest difference between the evaluator that rounds each node's results to their dtypes and
/// the one in fp64, as amplified by all nodes before; and by decisions that fall otherwise where roundings are nudged. values: node
/// results. Cost: three evaluations; memory for those values.
Result<std::vector<double>> roundings(const ValueSearch& search, std::span<const ir::ValueId> values);

/// Every floating value against the fp64 reference, in graph order, from one engine that has them all as outputs.
Result<std::vector<ValueDistance>> compare_values(const ValueSearch& search);
/// For errors that go away when every value is an output, because they come from fusing: one engine a probe, with one value as a
/// further output, halving the graph each time. Right where what follows a bad value is bad too. Empty: no value but outputs is bad.
Result<std::optional<ValueDistance>> bisect_values(const ValueSearch& search);

}  // namespace tenon::cli
