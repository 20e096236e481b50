// SPDX-License-Identifier: Apache-2.0
#include "program/state_ports.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "program/guards.h"

namespace tenon::program {

using codegen::Array;
using codegen::Plan;
using codegen::PlanState;
using runtime::StateInfo;
using runtime::StatePort;

namespace {

const Array& old_value(const PlanState& s, const Plan& plan) { return plan.arrays[plan.inputs[s.input]]; }
/// The length of the array along the growing axis of the state.
Dim length_in(codegen::ArrayId value, const PlanState& s, const Plan& plan) {
  return plan.arrays[value].shape[old_value(s, plan).growing->axis];
}

std::string text_of(const StateInfo& s) {
  const std::string grows = s.growing_axis ? fmt::format(", growing along {}", *s.growing_axis) : "";
  return fmt::format("{}{}{}", runtime::state_type_text(s), grows, s.initial ? ", with an initial value" : "");
}

/// A size of the array that is not known when a run starts; null: there is none.
const Dim* data_dependent_size(const Array& value, const SizeTable& sizes) {
  for (uint32_t d = 0; d < value.shape.size(); ++d)
    if (!sizes.is_known_at_start(value.shape[d])) return &value.shape[d];
  return nullptr;
}

bool are_equal(const StateInfo& a, const StateInfo& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.growing_axis == b.growing_axis && a.initial == b.initial;
}

}  // namespace

Result<std::vector<StatePort>> state_ports(const Plan& plan, std::span<const uint32_t> buffers, const SizeTable& sizes) {
  std::vector<StatePort> out;
  for (uint32_t k = 0; k < plan.states.size(); ++k) {
    const PlanState& s = plan.states[k];
    StatePort& port = out.emplace_back();
    port.old_buffer = buffers[static_cast<size_t>(plan.inputs[s.input])];
    port.new_buffer = buffers[static_cast<size_t>(plan.outputs[s.output])];
    if (const Dim* late = data_dependent_size(old_value(s, plan), sizes))
      return fail(Code::not_supported, "state '" + s.name + "'", "not supported yet: a size that is known only while the program runs")
          .expected("sizes that follow from the sizes of inputs")
          .found(late->text());
    if (!old_value(s, plan).growing) continue;
    const Dim length = length_in(plan.outputs[s.output], s, plan);
    if (!sizes.is_known_at_start(length))
      return fail(Code::not_supported, "state '" + s.name + "'", "not supported yet: a length that is known only while the program runs")
          .expected("a length that follows from the sizes of inputs")
          .found(length.text());
    port.length = sizes.length_of(k);
    port.new_length = port.old_buffer == port.new_buffer ? *port.length : sizes.slot(length);
  }
  return out;
}

std::vector<StateInfo> state_infos(const Plan& plan, const ir::Graph& graph, Pool& pool) {
  std::vector<StateInfo> out;
  for (const PlanState& s : plan.states) {
    const Array& array = old_value(s, plan);
    StateInfo& info = out.emplace_back();
    info.name = s.name;
    info.dtype = array.dtype;
    const DimList shape = codegen::stored_shape(array);
    for (const Dim d : shape) info.shape.push_back(d.is_number() ? d.value() : runtime::kFreeSize);
    if (has_free_sizes(info))
      for (const Dim d : shape) info.dimensions.push_back(d.text());
    if (array.growing) info.growing_axis = array.growing->axis;
    const ir::State* state = graph.state_of_input(array.value);
    if (state && state->initial) info.initial = pool.place(state->initial);
  }
  return out;
}

void add_length_guards(const Plan& plan, const SizeTable& sizes, std::vector<runtime::Guard>& guards) {
  for (uint32_t k = 0; k < plan.states.size(); ++k) {
    const PlanState& s = plan.states[k];
    if (!old_value(s, plan).growing) continue;
    const Dim length = length_in(plan.inputs[s.input], s, plan);
    if (sizes.slot(length) == sizes.length_of(k)) continue;
    guards.push_back({SizeRelation::equal, sizes.slot(length), sizes.length_of(k), "state '" + s.name + "'",
                      "the length of the state is not that of others which the model reads with it", length.text(),
                      "length of '" + s.name + "'"});
  }
  sort_guards(guards);
}

Result<void> place_states(runtime::ProgramTable& table, std::vector<StateInfo> states, runtime::Program& program) {
  for (size_t k = 0; k < states.size(); ++k) {
    const auto known = std::ranges::find(table.states, states[k].name, &StateInfo::name);
    program.states[k].state = static_cast<uint32_t>(known - table.states.begin());
    if (known == table.states.end()) {
      table.states.push_back(std::move(states[k]));
    } else if (!are_equal(*known, states[k])) {
      return fail(Code::bad_usage, "state '" + states[k].name + "'", "two entries have different states of this name")
          .expected(text_of(*known))
          .found(text_of(states[k]))
          .advice("give both one type and one capacity, or names that differ");
    }
  }
  return {};
}

}  // namespace tenon::program
