// SPDX-License-Identifier: Apache-2.0
// What must be so of the states of a table, and of how its programs use them.
#include <algorithm>
#include <ranges>
#include <set>

#include "base/checked.h"
#include "runtime/program_check.h"

namespace tenon::runtime {

namespace {

constexpr int64_t kMostStateElements = int64_t{1} << 45;

bool is_sound(const StateInfo& s, uint64_t weight_bytes) {
  if (s.name.empty() || static_cast<int>(s.dtype) >= kDTypeCount || bits_of(s.dtype) <= 0) return false;
  std::vector<int64_t> fixed = s.shape;
  std::ranges::replace(fixed, kFreeSize, 1);
  const auto count = checked_count(fixed);
  if (!count || *count > kMostStateElements) return false;
  if (!s.dimensions.empty() && s.dimensions.size() != s.shape.size()) return false;
  if (has_free_sizes(s) && s.initial) return false;
  if (s.growing_axis) return *s.growing_axis < s.shape.size() && s.shape[*s.growing_axis] > 0 && bits_of(s.dtype) % 8 == 0 && !s.initial;
  if (!s.initial) return true;
  return *s.initial <= weight_bytes && static_cast<uint64_t>(bytes_of(s.dtype, *count)) <= weight_bytes - *s.initial;
}

class PortChecker {
 public:
  PortChecker(const Program& program, const ProgramTable& table) : program_(program), table_(table) {}

  bool all_sound() {
    if (!std::ranges::all_of(program_.sizes, [&](const SizeLine& l) { return line_sound(l); })) return false;
    for (uint32_t b = 0; b < program_.buffers.size(); ++b) {
      const BufferInfo& info = program_.buffers[b];
      if (info.kind == BufferInfo::Kind::state && (info.index >= program_.states.size() || program_.states[info.index].old_buffer != b))
        return false;
    }
    for (uint32_t k = 0; k < program_.states.size(); ++k)
      if (!port_sound(k)) return false;
    return steps_sound() && std::ranges::none_of(program_.outputs, [&](const PortInfo& o) { return state_of(o.buffer).has_value(); });
  }

 private:
  /// Lines that refer to a state.
  bool line_sound(const SizeLine& l) const {
    if (l.kind == SizeLine::Kind::state_length) return l.a < program_.states.size();
    if (l.kind != SizeLine::Kind::state_size) return true;
    if (l.a >= program_.states.size() || program_.states[l.a].state >= table_.states.size()) return false;
    const StateInfo& state = table_.states[program_.states[l.a].state];
    return l.b < state.shape.size() && state.shape[l.b] == kFreeSize;
  }

  /// The number in Program::states whose bytes a buffer shares.
  std::optional<uint32_t> state_of(uint32_t buffer) const {
    if (buffer >= program_.buffers.size()) return std::nullopt;
    const BufferInfo& info = program_.buffers[buffer];
    const BufferInfo& root = info.kind == BufferInfo::Kind::alias ? program_.buffers[info.index] : info;
    return root.kind == BufferInfo::Kind::state ? std::optional(root.index) : std::nullopt;
  }

  bool port_sound(uint32_t number) {
    const StatePort& port = program_.states[number];
    if (port.state >= table_.states.size() || !states_.insert(port.state).second) return false;
    if (port.old_buffer >= program_.buffers.size() || port.new_buffer >= program_.buffers.size()) return false;
    if (state_of(port.old_buffer) != number || program_.buffers[port.old_buffer].kind != BufferInfo::Kind::state) return false;
    if (const auto shared = state_of(port.new_buffer); shared && *shared != number) return false;
    const StateInfo& state = table_.states[port.state];
    return lengths_sound(number, state.growing_axis.has_value()) && fits(port.old_buffer, state, port.length, port.old_buffer) &&
           fits(port.new_buffer, state, port.new_length, port.old_buffer);
  }

  bool lengths_sound(uint32_t number, bool grows) const {
    const StatePort& port = program_.states[number];
    const auto names_length = [&](const SizeLine& l) { return l.kind == SizeLine::Kind::state_length && l.a == number; };
    if (port.length.has_value() != grows || port.new_length.has_value() != grows) return false;
    if (!grows) return std::ranges::none_of(program_.sizes, names_length);
    return *port.length < program_.input_lines && *port.new_length < program_.input_lines && names_length(program_.sizes[*port.length]);
  }

  /// length: the line of the growing axis.
  bool fits(uint32_t number, const StateInfo& state, const std::optional<Slot>& length, uint32_t old_buffer) const {
    const BufferInfo& b = program_.buffers[number];
    if (b.dtype != state.dtype || b.container.kind != ValueKind::tensor || b.unranked || b.shape.size() != state.shape.size()) return false;
    for (uint32_t d = 0; d < state.shape.size(); ++d)
      if (d == state.growing_axis ? b.shape[d] != *length : !fits_size(b.shape[d], state, d, old_buffer)) return false;
    return true;
  }

  /// A free size follows from inputs and states, and is the same line in the old and the new value.
  bool fits_size(Slot slot, const StateInfo& state, uint32_t axis, uint32_t old_buffer) const {
    if (state.shape[axis] != kFreeSize) return is_number(slot, state.shape[axis]);
    return slot < program_.input_lines && slot == program_.buffers[old_buffer].shape[axis];
  }

  bool is_number(Slot slot, int64_t value) const {
    return program_.sizes[slot].kind == SizeLine::Kind::constant && program_.sizes[slot].constant == value;
  }

  /// Steps that are no kernels read tensors without gaps between rows: all of a state of fixed shape, or a growing one whose length is the
  /// size of its outermost axis. They write to no state.
  bool steps_sound() const {
    for (const Step& step : program_.steps) {
      if (is<KernelStep>(step)) continue;
      if (is<SizesStep>(step) && std::ranges::any_of(step.buffers, [&](uint32_t b) { return state_of(b).has_value(); })) return false;
      if (std::ranges::any_of(step.results, [&](uint32_t b) { return state_of(b).has_value(); })) return false;
      if (std::ranges::any_of(step.buffers, [&](uint32_t b) { return has_gaps(b); })) return false;
    }
    return true;
  }

  bool has_gaps(uint32_t buffer) const {
    const auto number = state_of(buffer);
    if (!number) return false;
    const StateInfo& state = table_.states[program_.states[*number].state];
    if (!state.growing_axis) return false;
    const auto outside = state.shape | std::views::take(*state.growing_axis);
    return std::ranges::any_of(outside, [](int64_t size) { return size != 1; });
  }

  const Program& program_;
  const ProgramTable& table_;
  std::set<uint32_t> states_;
};

std::vector<uint32_t> states_of(const Program& program) {
  std::vector<uint32_t> out;
  for (const StatePort& port : program.states) out.push_back(port.state);
  std::ranges::sort(out);
  return out;
}

}  // namespace

bool are_states_sound(const ProgramTable& table) {
  std::set<std::string_view> names;
  for (const StateInfo& s : table.states)
    if (!is_sound(s, table.weight_bytes) || !names.insert(s.name).second) return false;
  return true;
}

bool is_state_use_sound(const NamedProgram& row, const ProgramTable& table) {
  const bool may_have_states = row.role == Role::entry || row.role == Role::fallback;
  if (!may_have_states && !row.program.states.empty()) return false;
  if (row.role == Role::fallback && states_of(row.program) != states_of(table[row.entry])) return false;
  return PortChecker(row.program, table).all_sound();
}

}  // namespace tenon::runtime
