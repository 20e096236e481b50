// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "ir/graph.h"

namespace tenon::ir {

const State* Graph::state_of_input(ValueId input) const {
  const auto found = std::ranges::find(states_, input, &State::input);
  return found == states_.end() ? nullptr : &*found;
}

const State* Graph::state_of_output(uint32_t output) const {
  const auto found = std::ranges::find(states_, output, &State::output);
  return found == states_.end() ? nullptr : &*found;
}

void Graph::add_state(State state) {
  // A run never has more rows than the capacity.
  if (state.growing && value(state.input).type.has_rank() && state.growing->axis < value(state.input).type.shape->size())
    if (const DimNode* n = value(state.input).type.dim(static_cast<int>(state.growing->axis)).node(); n && n->kind == DimNode::Kind::symbol)
      symbols_->symbol(n->name, n->lower, std::max(n->lower, state.growing->capacity));
  states_.push_back(std::move(state));
}

namespace {

Result<void> check_growing(const State& state, const Type& old_type, const std::string& where) {
  const auto [axis, capacity] = *state.growing;
  if (axis >= static_cast<uint32_t>(old_type.rank()) || capacity < 1)
    return fail(Code::bad_graph, where, "the growing axis and its capacity do not fit")
        .expected(fmt::format("an axis below {} and a capacity of 1 or more", old_type.rank()))
        .found(fmt::format("axis {} with capacity {}", axis, capacity));
  const DimNode* symbol = (*old_type.shape)[axis].node();
  if (!symbol || symbol->kind != DimNode::Kind::symbol)
    return fail(Code::bad_graph, where, "the size of the growing axis must be a symbol of the input")
        .expected(fmt::format("a name as size of axis {}", axis))
        .found(old_type.text());
  if (state.initial) return fail(Code::bad_graph, where, "a growing state starts without rows").expected("no initial value");
  return {};
}

/// Whether all sizes but that of the growing axis are equal in the old and new value and do not depend on it.
bool has_same_sizes(const Graph& graph, const State& state, const Type& a, const Type& b) {
  std::vector<const DimNode*> lengths;
  const auto add_length = [&](const State& s) {
    if (s.growing && graph.alive(s.input)) lengths.push_back(graph.value(s.input).type.dim(static_cast<int>(s.growing->axis)).node());
  };
  add_length(state);
  for (const State& s : graph.states()) add_length(s);
  for (size_t d = 0; d < a.shape->size(); ++d) {
    const Dim size = (*a.shape)[d];
    if (state.growing && state.growing->axis == d) continue;
    if (!(size == (*b.shape)[d])) return false;
    bool is_fixed = !size.is_overflow();
    if (is_fixed && !size.is_number()) each_symbol(size, [&](const DimNode& s) { is_fixed &= std::ranges::count(lengths, &s) == 0; });
    if (!is_fixed) return false;
  }
  return true;
}

Result<void> check_types(const Graph& graph, const State& state, const std::string& where) {
  const Type &old_type = graph.value(state.input).type, &new_type = graph.value(graph.outputs()[state.output]).type;
  const bool are_tensors = old_type.is_tensor() && new_type.is_tensor() && old_type.has_rank() && new_type.has_rank();
  if (!are_tensors || old_type.dtype != new_type.dtype || old_type.rank() != new_type.rank() || old_type.dtype == DType::string)
    return fail(Code::bad_graph, where, "the old and the new value of a state must be tensors of one type, of no strings")
        .expected(old_type.text())
        .found(new_type.text());
  if (state.growing) TRY(check_growing(state, old_type, where));
  if (!has_same_sizes(graph, state, old_type, new_type))
    return fail(Code::bad_graph, where, "the old and the new value of a state must have one shape, but for a growing axis")
        .expected(old_type.text())
        .found(new_type.text());
  if (state.initial &&
      (state.initial->dtype != old_type.dtype || !(DimList(state.initial->shape.begin(), state.initial->shape.end()) == *old_type.shape)))
    return fail(Code::bad_graph, where, "the initial value of a state has another type").expected(old_type.text());
  return {};
}

}  // namespace

Result<void> check_state(const Graph& graph, const State& state) {
  const std::string where = "state '" + state.name + "'";
  if (!graph.alive(state.input) || graph.value(state.input).kind != Value::Kind::input || state.output >= graph.outputs().size())
    return fail(Code::bad_graph, where, "a state needs an input and an output of the graph");
  if (graph.value(state.input).has_default()) return fail(Code::bad_graph, where, "the input of a state has a default");
  for (const State& other : graph.states()) {
    if (&other == &state) continue;
    if (other.name == state.name) return fail(Code::bad_graph, where, "two states have this name");
    if (other.input == state.input || other.output == state.output)
      return fail(Code::bad_graph, where, "its input or output belongs to a state already").found("state '" + other.name + "'");
  }
  return check_types(graph, state, where);
}

}  // namespace tenon::ir
