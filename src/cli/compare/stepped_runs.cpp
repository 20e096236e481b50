// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/stepped_runs.h"

#include <fmt/format.h>

#include "cli/options/state_options.h"
#include "ops/reference/stateful_run.h"

namespace tenon::cli {

namespace {

/// Adds the results of a step, in the order of the graph's outputs that are no states'.
void add_outputs(const ir::Graph& graph, size_t step, std::span<const Tensor> values, SteppedResults& out) {
  size_t next = 0;
  for (uint32_t k = 0; k < graph.outputs().size(); ++k)
    if (!graph.state_of_output(k)) out.push_back({graph.output_name(k), step, false, values[next++]});
}

Error failed(Error error, size_t step, const InputsOfSteps& inputs) {
  if (inputs.size() == 1) return error;
  return at_step(std::move(error), static_cast<int64_t>(step), static_cast<int64_t>(inputs.size()));
}

Result<Tensor> initial_value(const runtime::Engine& engine, const std::string& state) {
  const auto context = TRY(runtime::Context::create(engine.shared_from_this()));
  return context->state_value(TRY(engine.state(state)));
}

/// Names of the inputs that are no states', in order.
std::vector<std::string> names_of_inputs(const ir::Graph& graph) {
  std::vector<std::string> out;
  for (const ir::ValueId id : graph.inputs())
    if (!graph.state_of_input(id)) out.push_back(graph.value(id).name);
  return out;
}

NamedValues named_inputs(const ir::Graph& graph, const std::vector<Tensor>& inputs) {
  const std::vector<std::string> names = names_of_inputs(graph);
  NamedValues out;
  for (size_t k = 0; k < inputs.size(); ++k)
    if (!inputs[k].empty_handle()) out.emplace(names[k], inputs[k]);
  return out;
}

}  // namespace

Result<SteppedResults> run_engine_steps(const std::shared_ptr<runtime::Engine>& engine, const ir::Graph& graph, const InputsOfSteps& inputs,
                                        const runtime::RunOptions& options) {
  const auto context = TRY(runtime::Context::create(engine));
  SteppedResults out;
  for (size_t step = 0; step < inputs.size(); ++step) {
    auto results = context->run(inputs[step], options);
    if (!results) return failed(std::move(results).error(), step, inputs);
    std::vector<Tensor> copies;
    for (const Tensor& t : *results) copies.push_back(TRY(owned(t)));
    add_outputs(graph, step, copies, out);
  }
  for (const ir::State& state : graph.states())
    out.push_back({state.name, inputs.size() - 1, true, TRY(context->state_value(TRY(engine->state(state.name))))});
  return out;
}

Result<SteppedResults> run_reference_steps(const ir::Graph& graph, const InputsOfSteps& inputs, const ops::EvaluateOptions& options) {
  ops::StatefulRun run(options);
  SteppedResults out;
  for (size_t step = 0; step < inputs.size(); ++step) {
    auto results = run.step(graph, inputs[step]);
    if (!results) return failed(std::move(results).error(), step, inputs);
    add_outputs(graph, step, *results, out);
  }
  for (const ir::State& state : graph.states()) out.push_back({state.name, inputs.size() - 1, true, *run.state(state.name)});
  return out;
}

Result<SteppedResults> run_peer_steps(const PeerOptions& options, const runtime::Engine& engine, const ir::Graph& graph,
                                      const InputsOfSteps& inputs) {
  NamedValues states;
  for (const ir::State& state : graph.states()) states.emplace(graph.value(state.input).name, TRY(initial_value(engine, state.name)));
  std::unique_ptr<Peer> peer;
  SteppedResults out;
  for (size_t step = 0; step < inputs.size(); ++step) {
    files::NamedTensors named = TRY(peer_inputs(engine, inputs[step]));
    named.insert(named.end(), states.begin(), states.end());
    if (!peer) peer = TRY(Peer::start(options, named));
    else TRY(peer->set_inputs(named));
    const std::vector<Tensor> results = TRY(peer->outputs());
    std::vector<Tensor> usual;
    for (uint32_t k = 0; k < results.size(); ++k)
      if (const ir::State* state = graph.state_of_output(k)) states.insert_or_assign(graph.value(state->input).name, results[k]);
      else usual.push_back(results[k]);
    add_outputs(graph, step, usual, out);
  }
  for (const ir::State& state : graph.states())
    out.push_back({state.name, inputs.size() - 1, true, states.at(graph.value(state.input).name)});
  return out;
}

Result<NamedValues> values_at_step(const runtime::Engine& engine, const ir::Graph& graph, const InputsOfSteps& inputs, size_t step) {
  ops::StatefulRun run;
  for (size_t k = 0; k < step; ++k) TRY(run.step(graph, inputs[k]));
  NamedValues out = named_inputs(graph, inputs[step]);
  for (const ir::State& state : graph.states()) {
    const Tensor* value = run.state(state.name);
    out.emplace(graph.value(state.input).name, value ? *value : TRY(initial_value(engine, state.name)));
  }
  return out;
}

std::vector<Tensor> in_order_of(const ir::Graph& graph, const NamedValues& values) {
  std::vector<Tensor> out;
  for (const ir::ValueId id : graph.inputs()) {
    const auto found = values.find(graph.value(id).name);
    out.push_back(found == values.end() ? Tensor() : found->second);
  }
  while (!out.empty() && out.back().empty_handle()) out.pop_back();
  return out;
}

}  // namespace tenon::cli
