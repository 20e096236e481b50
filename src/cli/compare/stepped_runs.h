// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <vector>

#include "cli/bench/peer.h"
#include "ir/graph.h"
#include "ops/reference/evaluate.h"
#include "runtime/engine.h"

namespace tenon::cli {

/// The inputs of each of several consecutive runs (steps).
using InputsOfSteps = std::vector<std::vector<Tensor>>;

/// A result of consecutive runs: an output of a step, or the value of a state after the last step.
struct SteppedResult {
  std::string name;
  size_t step = 0;  ///< of an output, from 0
  bool is_state = false;
  Tensor value;
};
/// Outputs of the first step, of the second, ...; then states, in the graph's order.
using SteppedResults = std::vector<SteppedResult>;

/// Runs the steps in one context, from the initial values. graph: that the engine was compiled from. Errors: that of the first step that
/// fails, with its number where there are several. Cost: copies of all results.
Result<SteppedResults> run_engine_steps(const std::shared_ptr<runtime::Engine>& engine, const ir::Graph& graph, const InputsOfSteps& inputs,
                                        const runtime::RunOptions& options);
/// The same by the reference evaluator.
Result<SteppedResults> run_reference_steps(const ir::Graph& graph, const InputsOfSteps& inputs, const ops::EvaluateOptions& options = {});
/// The same on another engine, which gets the states as inputs. Errors: those of Peer.
Result<SteppedResults> run_peer_steps(const PeerOptions& options, const runtime::Engine& engine, const ir::Graph& graph,
                                      const InputsOfSteps& inputs);

/// All inputs of a graph by name, those of states too.
using NamedValues = std::map<std::string, Tensor, std::less<>>;
/// The inputs and states that a step (from 0) reads, where earlier steps ran on the reference evaluator, which rounds each node's result.
Result<NamedValues> values_at_step(const runtime::Engine& engine, const ir::Graph& graph, const InputsOfSteps& inputs, size_t step);
/// The values in the order of a graph's inputs; empty handles for inputs with a default that have no value.
std::vector<Tensor> in_order_of(const ir::Graph& graph, const NamedValues& values);

}  // namespace tenon::cli
