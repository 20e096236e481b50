// SPDX-License-Identifier: Apache-2.0
// What a running program does with states: sizes that follow from their lengths, and their memory.
#include <fmt/format.h>

#include <algorithm>

#include "base/checked.h"
#include "runtime/input_checks.h"
#include "runtime/run/values.h"

namespace tenon::runtime {

namespace {

uint32_t root_of(const Program& program, uint32_t buffer) {
  const BufferInfo& info = program.buffers[buffer];
  return info.kind == BufferInfo::Kind::alias ? info.index : buffer;
}

/// Whether kernels write the new value where the old one is. Others leave the state as it is, or give a value to be copied.
bool is_written_in_place(const Program& program, const StatePort& port) {
  return port.new_buffer != port.old_buffer && root_of(program, port.new_buffer) == port.old_buffer;
}

/// By line that inputs and states decide: whether it follows from a length.
std::vector<bool> lines_of_lengths(const Program& program) {
  using Kind = SizeLine::Kind;
  std::vector<bool> out(program.input_lines);
  for (uint32_t k = 0; k < program.input_lines; ++k) {
    const SizeLine& l = program.sizes[k];
    switch (l.kind) {
      case Kind::state_length: out[k] = true; break;
      case Kind::constant:
      case Kind::input_dimension:
      case Kind::bound:
      case Kind::outer: break;
      default: out[k] = out[l.a] || out[l.b] || (l.kind == Kind::select && out[l.c]);
    }
  }
  return out;
}

/// nullopt: it is none, or too large.
std::optional<int64_t> elements_of(const BufferInfo& buffer, std::span<const int64_t> sizes) {
  int64_t count = 1;
  for (const Slot s : buffer.shape) {
    if (s >= sizes.size() || sizes[s] < 0) return std::nullopt;
    const auto product = checked_mul(count, sizes[s]);
    if (!product) return std::nullopt;
    count = *product;
  }
  return count;
}

}  // namespace

void Values::find_states() {
  lengths_.resize(program_.states.size());
  capacities_ = capacities_of(engine_.programs(), program_);
  is_growing_ = std::ranges::any_of(program_.states, [](const StatePort& port) { return port.length.has_value(); });
  if (program_.states.empty()) return;
  const std::vector<bool> follows = lines_of_lengths(program_);
  for (uint32_t b = 0; b < program_.buffers.size(); ++b) {
    const BufferInfo &info = program_.buffers[b], &root = program_.buffers[root_of(program_, b)];
    if (root.kind == BufferInfo::Kind::state) state_buffers_.emplace_back(b, root.index);
    if (info.kind == BufferInfo::Kind::arena && !sized_late(program_, info) &&
        std::ranges::any_of(info.shape, [&](Slot s) { return follows[s]; }))
      growing_buffers_.push_back(b);
  }
}

Result<void> Values::take_states() {
  for (size_t k = 0; k < lengths_.size(); ++k) {
    TRY(states_->prepare(program_.states[k].state));
    lengths_[k] = states_->length(program_.states[k].state);
  }
  for (const auto& [buffer, number] : state_buffers_) pointers_[buffer] = states_->data(program_.states[number].state);
  return {};
}

/// The sizes for these inputs, whose shapes are taken, and lengths; and a layout with room for them.
Result<void> Values::size_lengths(std::span<const Tensor> inputs) {
  sized_lengths_.clear();
  TRY(evaluate_sizes(program_, 0, program_.input_lines, given(), sizes_));
  TRY(check_lengths());
  TRY(check_shapes(program_, inputs, sizes_));
  TRY(check_guards(program_, 0, program_.input_lines, sizes_));
  const SizePlan* plan = plan_ ? plan_ : plan_capacity();
  if (!plan || !has_room(*plan)) plan = TRY(plan_lengths());
  if (plan != plan_) point_into(TRY(arena_.reserve(plan->layout.bytes)), plan->layout);
  plan_ = plan;
  sized_lengths_ = lengths_;
  ++lengths_number_;
  return {};
}

Result<void> Values::check_lengths() const {
  for (size_t k = 0; k < lengths_.size(); ++k) {
    const StatePort& port = program_.states[k];
    if (!port.new_length) continue;
    const int64_t length = sizes_[*port.new_length];
    if (length >= 0 && length <= capacities_[k]) continue;
    return fail(Code::bad_input, state_place(states_->infos()[port.state]), "its new length is outside of its capacity")
        .expected(fmt::format("0 .. {}", capacities_[k]))
        .found(fmt::format("{}, from {}", length, lengths_[k]))
        .advice("build the model with a larger capacity, or reset the state");
  }
  return {};
}

/// The layout for these shapes with all lengths at their capacity. Null: sizes have no values there.
const SizePlan* Values::plan_capacity() {
  set_key();
  if (const SizePlan* const known = plans_.find(key_)) return known;
  if (!evaluate_sizes(program_, 0, program_.input_lines, {shapes_, outer_, capacities_}, sizes_at_capacity_)) return nullptr;
  auto layout = lay_out(program_, sizes_at_capacity_, margin());
  if (!layout) return nullptr;
  return plans_.keep({key_, {sizes_at_capacity_.begin(), sizes_at_capacity_.begin() + program_.input_lines}, *std::move(layout)});
}

/// The layout for the sizes of this run alone, where a value is larger than at the capacity.
Result<const SizePlan*> Values::plan_lengths() {
  set_key();
  key_.insert(key_.end(), lengths_.begin(), lengths_.end());
  if (const SizePlan* const known = plans_.find(key_)) return known;
  return plans_.keep({key_, {sizes_.begin(), sizes_.begin() + program_.input_lines}, TRY(lay_out(program_, sizes_, margin()))});
}

bool Values::has_room(const SizePlan& plan) const {
  return std::ranges::all_of(growing_buffers_, [&](uint32_t b) {
    const auto now = elements_of(program_.buffers[b], sizes_), planned = elements_of(program_.buffers[b], plan.sizes);
    return now && planned && *now <= *planned;
  });
}

/// Bytes to reserve for a result: as many as it has at the capacity, so that it stays where it is while states grow.
size_t Values::room_for(uint32_t buffer, size_t bytes) const {
  if (!is_growing_) return bytes;
  const auto most = elements_of(program_.buffers[buffer], plan_->sizes);
  if (!most || *most > int64_t{1} << 45) return bytes;
  return std::max(bytes, static_cast<size_t>(bytes_of(program_.buffers[buffer].dtype, *most)));
}

void Values::open_states() {
  for (const StatePort& port : program_.states)
    if (!port.length && is_written_in_place(program_, port)) states_->set_valid(port.state, false);
}

void Values::keep_states() {
  for (const StatePort& port : program_.states) {
    const StateInfo& info = states_->infos()[port.state];
    const int64_t length = port.new_length ? sizes_[*port.new_length] : 0;
    if (is_written_in_place(program_, port)) states_->set_valid(port.state, true);
    else if (port.new_buffer != port.old_buffer)
      scatter_state(info, length, static_cast<const std::byte*>(pointers_[root_of(program_, port.new_buffer)]), states_->data(port.state));
    if (port.new_length) states_->set_length(port.state, length);
  }
}

}  // namespace tenon::runtime
