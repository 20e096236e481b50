// SPDX-License-Identifier: Apache-2.0
#include "ops/reference/stateful_run.h"

#include <fmt/format.h>

#include <cstring>

namespace tenon::ops {

namespace {

/// Zeros, without rows on a growing axis.
Result<Tensor> initial_value(const ir::Graph& graph, const ir::State& state) {
  if (state.initial) return materialise(*state.initial);
  const ir::Type& type = graph.value(state.input).type;
  Sizes shape;
  for (uint32_t d = 0; d < type.shape->size(); ++d)
    shape.push_back(state.growing && state.growing->axis == d ? 0 : type.dim(static_cast<int>(d)).value());
  Tensor out = TRY(Tensor::make(type.dtype, std::move(shape)));
  std::memset(out.mutable_data(), 0, static_cast<size_t>(out.byte_size()));
  return out;
}

Result<void> check_length(const ir::State& state, const Tensor& value) {
  if (!state.growing || value.shape()[state.growing->axis] <= state.growing->capacity) return {};
  return fail(Code::bad_input, "state '" + state.name + "'", "the new value is longer than the capacity")
      .expected(fmt::format("at most {}", state.growing->capacity))
      .found(std::to_string(value.shape()[state.growing->axis]));
}

}  // namespace

Result<std::vector<Tensor>> StatefulRun::step(const ir::Graph& graph, std::span<const Tensor> inputs) {
  std::vector<Tensor> all;
  for (const ir::ValueId id : graph.inputs()) {
    if (const ir::State* state = graph.state_of_input(id)) {
      const auto known = values_.find(state->name);
      all.push_back(known != values_.end() ? known->second : TRY(initial_value(graph, *state)));
      continue;
    }
    all.push_back(inputs.empty() ? Tensor() : inputs[0]);
    if (!inputs.empty()) inputs = inputs.subspan(1);
  }
  const std::vector<Tensor> made = TRY(evaluate(graph, all, options_));
  for (const ir::State& state : graph.states()) TRY(check_length(state, made[state.output]));
  std::vector<Tensor> out;
  for (uint32_t k = 0; k < made.size(); ++k)
    if (const ir::State* state = graph.state_of_output(k)) values_.insert_or_assign(state->name, made[k]);
    else out.push_back(made[k]);
  return out;
}

const Tensor* StatefulRun::state(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

}  // namespace tenon::ops
