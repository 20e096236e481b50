// SPDX-License-Identifier: Apache-2.0
// The part of Values for states: sizes that follow from their lengths, and their memory.
#include <fmt/format.h>

#include <algorithm>

#include "base/checked.h"
#include "runtime/container_value.h"
#include "runtime/input_checks.h"
#include "runtime/run/values.h"

namespace tenon::runtime {

namespace {

uint32_t root_of(const Program& program, uint32_t buffer) {
  const BufferInfo& info = program.buffers[buffer];
  return info.kind == BufferInfo::Kind::alias ? info.index : buffer;
}

/// Whether kernels write the new value into the memory of the old one. Otherwise the state does not change, or the new value is copied.
bool is_written_in_place(const Program& program, const StatePort& port) {
  return port.new_buffer != port.old_buffer && root_of(program, port.new_buffer) == port.old_buffer;
}

/// For each of the first input_lines lines, whether its value depends on the length of a state.
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
      case Kind::outer:
      case Kind::state_size: break;
      default: out[k] = out[l.a] || out[l.b] || (l.kind == Kind::select && out[l.c]);
    }
  }
  return out;
}

/// The number of elements; nullopt: a size is unknown or negative, or the number overflows.
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
  state_shapes_.resize(program_.states.size());
  for (uint32_t k = 0; k < program_.states.size(); ++k)
    if (has_free_sizes(states_->infos()[program_.states[k].state])) free_ports_.push_back(k);
  for (const SizeLine& l : program_.sizes)
    if (l.kind == SizeLine::Kind::state_size) given_sizes_.emplace_back(l.a, l.b);
  const std::vector<bool> follows = lines_of_lengths(program_);
  for (uint32_t b = 0; b < program_.buffers.size(); ++b) {
    const BufferInfo &info = program_.buffers[b], &root = program_.buffers[root_of(program_, b)];
    if (root.kind == BufferInfo::Kind::state) state_buffers_.emplace_back(b, root.index);
    if (info.kind == BufferInfo::Kind::arena && !sized_late(program_, info) &&
        std::ranges::any_of(info.shape, [&](Slot s) { return follows[s]; }))
      growing_buffers_.push_back(b);
  }
}

/// Reads the lengths of states, and the free sizes that the program refers to. Where a free size has changed, plan_ becomes null.
Result<void> Values::fetch_state_sizes() {
  for (size_t k = 0; k < lengths_.size(); ++k) {
    const uint32_t state = program_.states[k].state;
    TRY(has_free_sizes(states_->infos()[state]) ? states_->check_valid(state) : states_->prepare(state));
    lengths_[k] = states_->length(state);
  }
  for (const auto& [port, axis] : given_sizes_) {
    const uint32_t state = program_.states[port].state;
    const StateInfo& info = states_->info(state);
    if (info.shape[axis] == 0)
      return fail(Code::bad_input, state_place(info), fmt::format("the size of axis {} is not fixed yet", axis))
          .expected(state_type_text(states_->infos()[state]))
          .found("no memory of that state in this context")
          .advice("run an entry whose inputs have that size, or bind memory to the state");
    if (state_shapes_[port] == info.shape) continue;
    state_shapes_[port] = info.shape;
    plan_ = nullptr;
  }
  return {};
}

Sizes Values::state_shape(uint32_t port) const {
  const StatePort& p = program_.states[port];
  Sizes shape = states_->infos()[p.state].shape;
  for (uint32_t d = 0; d < shape.size(); ++d)
    if (shape[d] == kFreeSize) shape[d] = sizes_[program_.buffers[p.old_buffer].shape[d]];
  return shape;
}

/// Whether the state has memory of the sizes of this run.
bool Values::has_state_sizes(uint32_t port) const {
  const StatePort& p = program_.states[port];
  const Sizes &model = states_->infos()[p.state].shape, &now = states_->info(p.state).shape;
  for (uint32_t d = 0; d < model.size(); ++d)
    if (model[d] == kFreeSize && now[d] != sizes_[program_.buffers[p.old_buffer].shape[d]]) return false;
  return states_->data(p.state) != nullptr;
}

/// Memory of the states, once their free sizes are known.
Result<void> Values::place_states() {
  for (const uint32_t k : free_ports_)
    if (!has_state_sizes(k)) TRY(states_->check_shape(program_.states[k].state, state_shape(k)));
  for (const uint32_t k : free_ports_)
    if (!has_state_sizes(k)) TRY(states_->fix_shape(program_.states[k].state, state_shape(k)));
  for (const auto& [buffer, number] : state_buffers_) pointers_[buffer] = states_->data(program_.states[number].state);
  return {};
}

/// Adds all arena buffers to growing_buffers_: in a body whose inputs have bounds, any size may change under one layout.
void Values::find_growing_buffers() {
  for (uint32_t b = 0; b < program_.buffers.size(); ++b) {
    const BufferInfo& info = program_.buffers[b];
    if (info.kind == BufferInfo::Kind::arena && !sized_late(program_, info)) growing_buffers_.push_back(b);
  }
}

Sizes Values::largest_shape(uint32_t buffer) const {
  const BufferInfo& info = program_.buffers[buffer];
  if (info.kind == BufferInfo::Kind::dynamic || is_container(info) || sized_late(program_, info)) return tensor_of(buffer).shape();
  Sizes shape;
  for (const Slot s : info.shape) shape.push_back(largest_size(s));
  return shape;
}

/// Computes the sizes for these inputs, whose shapes are in shapes_, and lengths, and sets a layout with room for them.
Result<void> Values::compute_growing_sizes(std::span<const Tensor> inputs, const std::optional<SizeBounds>& bounds) {
  sized_lengths_.clear();
  TRY(evaluate_sizes(program_, 0, program_.input_lines, given(), sizes_));
  TRY(check_lengths());
  TRY(check_shapes(program_, inputs, sizes_));
  TRY(check_guards(program_, 0, program_.input_lines, sizes_));
  const SizePlan* plan = plan_ ? plan_ : plan_capacity(bounds);
  if (!plan || !has_room(*plan)) plan = TRY(plan_lengths());
  if (plan != plan_) set_arena_pointers(TRY(arena_.reserve(plan->layout.bytes)), plan->layout);
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

/// The layout for these shapes, or those that bound them, with all lengths at their capacity. Null: sizes have no values there.
const SizePlan* Values::plan_capacity(const std::optional<SizeBounds>& bounds) {
  const SizeBounds most = bounds.value_or(SizeBounds{shapes_, outer_});
  set_key(most.shapes, most.outer);
  if (const SizePlan* const known = plans_.find(key_)) return known;
  const GivenSizes at_capacity{most.shapes, most.outer, capacities_, state_shapes_};
  if (!evaluate_sizes(program_, 0, program_.input_lines, at_capacity, sizes_at_capacity_)) return nullptr;
  auto layout = lay_out(program_, sizes_at_capacity_, margin());
  if (!layout) return nullptr;
  return plans_.keep({key_, {sizes_at_capacity_.begin(), sizes_at_capacity_.begin() + program_.input_lines}, *std::move(layout)});
}

/// The layout for the sizes of this run alone, where a value is larger than at the capacity.
Result<const SizePlan*> Values::plan_lengths() {
  set_key(shapes_, outer_);
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

/// The layout of a stage for the sizes that steps have bound, with all lengths at their capacity. Null: it has no room for this run.
const SizePlan* Values::plan_stage_capacity(Stage& stage, uint32_t from, uint32_t to) {
  key_ = {-1, static_cast<int64_t>(plan_->number)};  // unlike keys of other layouts
  sizes_at_capacity_.assign(plan_->sizes.begin(), plan_->sizes.end());
  sizes_at_capacity_.resize(program_.sizes.size());
  for (uint32_t k = program_.input_lines; k < to; ++k) {
    if (program_.sizes[k].kind != SizeLine::Kind::bound) continue;
    sizes_at_capacity_[k] = sizes_[k];
    key_.push_back(sizes_[k]);
  }
  const SizePlan* plan = stage.plans.find(key_);
  if (!plan) {
    if (!evaluate_sizes(program_, program_.input_lines, to, given(), sizes_at_capacity_)) return nullptr;
    auto layout = lay_out_late(program_, from, to, sizes_at_capacity_, margin());
    if (!layout) return nullptr;
    plan = stage.plans.keep({key_, sizes_at_capacity_, *std::move(layout)});
  }
  for (const BufferInfo& b : program_.buffers) {
    if (!sized_by(program_, b, from, to)) continue;
    const auto now = elements_of(b, sizes_), planned = elements_of(b, plan->sizes);
    if (!now || !planned || *now > *planned) return nullptr;
  }
  return plan;
}

/// Bytes to reserve for a result: as many as it has at the capacity, so that it stays where it is while states grow.
size_t Values::bytes_to_reserve(uint32_t buffer, size_t bytes) const {
  if (!is_growing()) return bytes;
  const auto most = elements_of(program_.buffers[buffer], plan_->sizes);
  if (!most || *most > int64_t{1} << 45) return bytes;
  return std::max(bytes, static_cast<size_t>(bytes_of(program_.buffers[buffer].dtype, *most)));
}

void Values::begin_state_writes() {
  for (const StatePort& port : program_.states)
    if (!port.length && is_written_in_place(program_, port)) states_->set_valid(port.state, false);
}

void Values::commit_states() {
  for (const StatePort& port : program_.states) {
    const StateInfo& info = states_->info(port.state);
    const int64_t length = port.new_length ? sizes_[*port.new_length] : 0;
    if (is_written_in_place(program_, port)) states_->set_valid(port.state, true);
    else if (port.new_buffer != port.old_buffer)
      scatter_state(info, length, static_cast<const std::byte*>(pointers_[root_of(program_, port.new_buffer)]), states_->data(port.state));
    if (port.new_length) states_->set_length(port.state, length);
  }
}

}  // namespace tenon::runtime
