// SPDX-License-Identifier: Apache-2.0
#include "ops/reference/stateful_run.h"

#include <fmt/format.h>

#include <cstring>

namespace tenon::ops {

namespace {

/// The sizes of symbols, from the shapes of these inputs and of states that have values.
std::map<const DimNode*, int64_t> known_sizes(const ir::Graph& graph, std::span<const Tensor> inputs) {
  std::map<const DimNode*, int64_t> out;
  for (size_t k = 0; k < inputs.size() && k < graph.inputs().size(); ++k) {
    const ir::Type& type = graph.value(graph.inputs()[k]).type;
    if (!type.has_rank() || inputs[k].empty_handle() || inputs[k].shape().size() != type.shape->size()) continue;
    for (size_t d = 0; d < type.shape->size(); ++d)
      if (const DimNode* n = (*type.shape)[d].node(); n && n->kind == DimNode::Kind::symbol) out.emplace(n, inputs[k].shape()[d]);
  }
  return out;
}

/// Zeros, without rows on a growing axis. Errors: bad_input for a size that nothing gives.
Result<Tensor> initial_value(const ir::Graph& graph, const ir::State& state, const std::map<const DimNode*, int64_t>& sizes) {
  if (state.initial) return materialise(*state.initial);
  const ir::Type& type = graph.value(state.input).type;
  Sizes shape;
  for (uint32_t d = 0; d < type.shape->size(); ++d) {
    const bool grows = state.growing && state.growing->axis == d;
    const Dim size = grows ? Dim(0) : substitute(type.dim(static_cast<int>(d)), [&](const DimNode& symbol) {
      const auto known = sizes.find(&symbol);
      return known == sizes.end() ? Dim::of(&symbol) : Dim(known->second);
    });
    if (!size.is_number())
      return fail(Code::bad_input, "state '" + state.name + "'", fmt::format("the size of axis {} is not fixed yet", d))
          .expected("an input of that size, or an earlier step")
          .found(size.text());
    shape.push_back(size.value());
  }
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
      all.push_back(known != values_.end() ? known->second : Tensor());
      continue;
    }
    all.push_back(inputs.empty() ? Tensor() : inputs[0]);
    if (!inputs.empty()) inputs = inputs.subspan(1);
  }
  const auto sizes = known_sizes(graph, all);
  for (size_t k = 0; k < graph.inputs().size(); ++k)
    if (const ir::State* state = graph.state_of_input(graph.inputs()[k]); state && all[k].empty_handle())
      all[k] = TRY(initial_value(graph, *state, sizes));
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
