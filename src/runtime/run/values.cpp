// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "base/point_at.h"
#include "runtime/container_value.h"
#include "runtime/device_error.h"
#include "runtime/input_checks.h"

namespace tenon::runtime {

namespace {

constexpr int64_t kMaxElements = int64_t{1} << 45;

Error size_error(std::string place, const Sizes& shape) {
  return fail(Code::size_overflow, std::move(place), "a value is too large")
      .expected("at most 2^45 elements")
      .found(fmt::format("[{}]", fmt::join(shape, ",")))
      .advice("give smaller inputs");
}

Error bound_memory_error(const PortInfo& port, size_t expected, size_t found) {
  return fail(Code::bad_input, port_place("output", port), "the bound memory is too small")
      .expected(fmt::format("{} bytes", expected))
      .found(fmt::format("{} bytes", found));
}

}  // namespace

Values::Values(const Engine& engine, const Program& program, bool alternate, States* states)
    : engine_(engine),
      program_(program),
      alternate_(alternate),
      shapes_(program.inputs.size()),
      sizes_(program.sizes.size()),
      states_(states),
      pointers_(program.buffers.size(), nullptr),
      dynamic_(program.buffers.size()),
      results_(program.outputs.size()),
      bound_(program.outputs.size()),
      result_blocks_(program.outputs.size()) {
  for (uint32_t b = 0; b < program.buffers.size(); ++b)
    if (program.buffers[b].kind == BufferInfo::Kind::input) input_buffers_.push_back(b);
  for (uint32_t r = 0; r < program.outputs.size(); ++r) {
    const BufferInfo& info = program.buffers[program.outputs[r].buffer];
    if (info.kind == BufferInfo::Kind::input && !is_container(info)) passed_through_.push_back(r);
  }
  find_states();
  if (std::ranges::any_of(engine.devices(), [](const auto& device) { return device->shares_memory(); })) arena_.share();
  arena_.use(engine.memory());
  for (auto& blocks : result_blocks_)
    for (Block& block : blocks) block.use(engine.memory());
}

void Values::set_canaries(bool wanted) {
  if (wanted == canaries_) return;
  canaries_ = wanted;
  plan_ = nullptr;
  plans_.clear();
  stages_.clear();
}

bool Values::has_same_sizes(std::span<const Tensor> inputs, std::span<const int64_t> outer) const {
  if (!plan_ || arena_.is_of_parent_process() || !std::ranges::equal(outer, outer_)) return false;
  for (size_t k = 0; k < inputs.size(); ++k)
    if (shapes_[k] != inputs[k].shape()) return false;
  return true;
}

Result<void> Values::begin(std::span<const Tensor> inputs, std::span<const int64_t> outer, const std::optional<SizeBounds>& bounds) {
  if (alternate_) written_block_ = 1 - written_block_;
  if (bounds && !std::exchange(has_bounds_, true)) find_growing_buffers();
  TRY(fetch_state_sizes());
  const bool has_plan = has_same_sizes(inputs, outer);
  if (!has_plan) {
    plan_ = nullptr;
    if (arena_.is_of_parent_process()) plans_.clear();  // the arena moves, so segments must set their shapes again
    for (size_t k = 0; k < inputs.size(); ++k) shapes_[k] = inputs[k].shape();
    outer_.assign(outer.begin(), outer.end());
  }
  if (is_growing() && !(has_plan && sized_lengths_ == lengths_)) TRY(compute_growing_sizes(inputs, bounds));
  if (!plan_) TRY(plan_inputs(inputs));
  if (!program_.states.empty()) TRY(place_states());
  TRY(check_elements(program_, inputs, sizes_));
  return take_inputs(inputs);
}

/// Sets sizes and arena for these inputs, whose shapes are in shapes_.
Result<void> Values::plan_inputs(std::span<const Tensor> inputs) {
  const SizePlan* const plan = TRY(plan_sizes(inputs));
  set_arena_pointers(TRY(arena_.reserve(plan->layout.bytes)), plan->layout);
  plan_ = plan;
  return {};
}

void Values::set_key(std::span<const Sizes> shapes, std::span<const int64_t> outer) {
  key_.assign(outer.begin(), outer.end());
  for (const Sizes& shape : shapes) {
    key_.push_back(static_cast<int64_t>(shape.size()));
    key_.insert(key_.end(), shape.begin(), shape.end());
  }
  for (const auto& [port, axis] : given_sizes_) key_.push_back(state_shapes_[port][axis]);
}

Result<const SizePlan*> Values::plan_sizes(std::span<const Tensor> inputs) {
  set_key(shapes_, outer_);
  if (const SizePlan* const known = plans_.find(key_)) {
    std::ranges::copy(known->sizes, sizes_.begin());
    return known;
  }
  TRY(evaluate_sizes(program_, 0, program_.input_lines, given(), sizes_));
  TRY(check_shapes(program_, inputs, sizes_));
  TRY(check_guards(program_, 0, program_.input_lines, sizes_));
  return plans_.keep({key_, {sizes_.begin(), sizes_.begin() + program_.input_lines}, TRY(lay_out(program_, sizes_, margin()))});
}

uint64_t Values::arena_bytes() const {
  if (!plan_) return 0;
  uint64_t bytes = plan_->layout.bytes;
  for (const auto& [first_line, stage] : stages_) bytes += stage.earlier_sizes == sizes_number() ? stage.bytes : 0;
  return bytes;
}

uint64_t Values::plans_made() const {
  uint64_t made = plans_.made();
  for (const auto& [first_line, stage] : stages_) made += stage.plans.made();
  return made;
}

/// Sets the pointers of arena buffers and weights, which stay until the sizes change.
void Values::set_arena_pointers(std::byte* arena, const Layout& layout) {
  for (uint32_t b = 0; b < program_.buffers.size(); ++b) {
    const BufferInfo& info = program_.buffers[b];
    if (info.kind == BufferInfo::Kind::arena && !sized_late(program_, info)) pointers_[b] = arena + layout.offsets[b];
    if (info.kind == BufferInfo::Kind::weight) pointers_[b] = const_cast<std::byte*>(engine_.weights()) + info.offset;
  }
}

Result<void> Values::take_inputs(std::span<const Tensor> inputs) {
  for (uint32_t b : input_buffers_) {
    const Tensor& t = inputs[program_.buffers[b].index];
    pointers_[b] = t.count() > 0 && t.has_bytes() ? const_cast<std::byte*>(t.data()) : empty_tensor_bytes_;
    dynamic_[b] = t;
    if (t.holds_tensors()) TRY(keep_result(b, t));  // it may be a result as it is
  }
  for (const uint32_t r : passed_through_) TRY(keep_result(program_.outputs[r].buffer, dynamic_[program_.outputs[r].buffer]));
  return {};
}

Sizes Values::shape_of(uint32_t buffer) const {
  Sizes shape;
  for (Slot s : program_.buffers[buffer].shape) shape.push_back(sizes_[s]);
  return shape;
}

bool Values::has_shape(const Tensor& t, uint32_t buffer) const {
  return t.dtype() == program_.buffers[buffer].dtype &&
         std::ranges::equal(t.shape(), program_.buffers[buffer].shape, {}, {}, [&](Slot s) { return sizes_[s]; });
}

Tensor Values::tensor_of(uint32_t buffer) const {
  const BufferInfo& info = program_.buffers[buffer];
  const bool is_view = info.kind == BufferInfo::Kind::alias && program_.buffers[info.index].kind != BufferInfo::Kind::state;
  if (is_view) return tensor_of(info.index).reshaped(shape_of(buffer));
  if (info.kind == BufferInfo::Kind::input || info.kind == BufferInfo::Kind::dynamic) return dynamic_[buffer];
  return Tensor::view(info.dtype, shape_of(buffer), pointers_[buffer], nullptr);
}

/// Results that share a buffer are set after the result that owns it.
Result<void> Values::place_results() {
  const auto owner_of = [&](size_t k) -> std::optional<size_t> {
    const BufferInfo& info = program_.buffers[program_.outputs[k].buffer];
    if (info.kind != BufferInfo::Kind::output) return std::nullopt;
    return info.index;
  };
  for (size_t k = 0; k < results_.size(); ++k)
    if (owner_of(k) == k) TRY(place_result(k));
  for (size_t k = 0; k < results_.size(); ++k)
    if (const auto owner = owner_of(k); owner && *owner != k) results_[k] = results_[*owner];
  return {};
}

Result<void> Values::place_result(size_t k) {
  const PortInfo& port = program_.outputs[k];
  const BufferInfo& info = program_.buffers[port.buffer];
  if (!has_shape(results_[k], port.buffer)) {
    Sizes shape = shape_of(port.buffer);
    const auto count = checked_count(shape);
    if (!count || *count > kMaxElements) return size_error(port_place("output", port), shape);
    results_[k] = Tensor::view(info.dtype, std::move(shape), empty_tensor_bytes_, nullptr);
  }
  const auto bytes = static_cast<size_t>(results_[k].byte_size());
  if (bound_[k].first != nullptr && bound_[k].second < bytes) return bound_memory_error(port, bytes, bound_[k].second);
  if (bound_[k].first != nullptr && !canaries_) pointers_[port.buffer] = bound_[k].first;
  else
    pointers_[port.buffer] =
        TRY(result_blocks_[k][written_block_].reserve(bytes_to_reserve(port.buffer, bytes) + kSlack + 2 * margin())) + margin();
  if (results_[k].data() != pointers_[port.buffer]) point_at(results_[k], pointers_[port.buffer]);
  return {};
}

/// Checks guards of lines [from, to) and lays out the buffers whose sizes they complete. Does nothing where these lines have the values of
/// the last run.
Result<void> Values::place_stage(uint32_t from, uint32_t to) {
  Stage& stage = stages_[from];
  if (stage.memory.data() == nullptr) stage.memory.use(engine_.memory());
  const auto late = std::span(sizes_).subspan(program_.input_lines, to - program_.input_lines);
  if (stage.earlier_sizes == sizes_number() && std::ranges::equal(stage.sizes, late)) return {};
  stage.earlier_sizes = 0;
  stage.sizes.assign(late.begin(), late.end());
  const SizePlan* const plan = TRY(plan_stage(stage, from, to));
  std::byte* const memory = TRY(stage.memory.reserve(plan->layout.bytes));
  for (uint32_t b = 0; b < program_.buffers.size(); ++b)
    if (sized_by(program_, program_.buffers[b], from, to)) pointers_[b] = memory + plan->layout.offsets[b];
  stage.bytes = plan->layout.bytes;
  stage.earlier_sizes = sizes_number();
  return {};
}

/// The layout for the stage's sizes, once its guards hold.
Result<const SizePlan*> Values::plan_stage(Stage& stage, uint32_t from, uint32_t to) {
  if (is_growing()) {
    TRY(check_guards(program_, from, to, sizes_));
    if (const SizePlan* const plan = plan_stage_capacity(stage, from, to)) return plan;
  }
  key_.assign(1, static_cast<int64_t>(plan_->number));
  key_.insert(key_.end(), lengths_.begin(), lengths_.end());
  key_.insert(key_.end(), stage.sizes.begin(), stage.sizes.end());
  if (const SizePlan* const known = stage.plans.find(key_)) return known;
  TRY(check_guards(program_, from, to, sizes_));
  return stage.plans.keep({key_, {}, TRY(lay_out_late(program_, from, to, sizes_, margin()))});
}

/// Sets results of the program that are in that buffer to the tensor, or to a copy of it in the memory that the caller has bound.
Result<void> Values::keep_result(uint32_t buffer, const Tensor& t) {
  for (size_t r = 0; r < results_.size(); ++r) {
    const PortInfo& port = program_.outputs[r];
    if (port.buffer != buffer) continue;
    results_[r] = t;
    if (bound_[r].first == nullptr || !t.has_bytes()) continue;
    const auto bytes = static_cast<size_t>(t.byte_size());
    if (bound_[r].second < bytes) return bound_memory_error(port, bytes, bound_[r].second);
    if (bytes > 0) std::memcpy(bound_[r].first, t.data(), bytes);
    results_[r] = Tensor::view(t.dtype(), t.shape(), bound_[r].first, nullptr);
  }
  return {};
}

std::vector<Tensor> Values::tensors_of(std::span<const uint32_t> buffers) const {
  std::vector<Tensor> out(buffers.size());
  for (size_t k = 0; k < out.size(); ++k)
    if (buffers[k] != kMissing) out[k] = tensor_of(buffers[k]);
  return out;
}

Result<void> Values::take_results(const Step& step, std::span<const Tensor> out) {
  for (const Step::Binding& b : step.bindings) {
    const Tensor& t = out[b.result];
    if (b.axis >= static_cast<uint32_t>(t.rank())) return fail(Code::internal, step.label, "a result has another rank than inferred");
    sizes_[b.slot] = t.shape()[b.axis];
  }
  for (size_t k = 0; k < step.results.size(); ++k) {
    const uint32_t b = step.results[k];
    if (b == kMissing || program_.buffers[b].kind != BufferInfo::Kind::dynamic) continue;
    TRY(check_type(step, b, out[k]));
    dynamic_[b] = out[k];
    pointers_[b] = out[k].count() > 0 && out[k].has_bytes() ? dynamic_[b].mutable_data() : empty_tensor_bytes_;
    TRY(keep_result(b, out[k]));
  }
  return {};
}

Result<void> Values::bind_sizes(uint32_t number, uint32_t& lines) {
  const uint32_t known =
      number + 1 < program_.steps.size() ? program_.steps[number + 1].lines : static_cast<uint32_t>(program_.sizes.size());
  if (known > lines) {
    TRY(evaluate_sizes(program_, lines, known, given(), sizes_));
    TRY(place_stage(lines, known));
    lines = known;
    TRY(place_results());
  }
  return check_results(program_.steps[number]);
}

/// Checks the shapes of results that are in memory of their own.
Result<void> Values::check_results(const Step& step) {
  for (size_t k = 0; k < step.results.size(); ++k) {
    const uint32_t b = step.results[k];
    if (b == kMissing || program_.buffers[b].kind != BufferInfo::Kind::dynamic || program_.buffers[b].unranked ||
        is_container(program_.buffers[b]))
      continue;
    const Sizes declared = shape_of(b);
    const auto* const loop = as<LoopStep>(step);
    const bool has_no_rows = loop && k >= loop->carried && !declared.empty() && declared[0] == 0;
    if (has_no_rows && dynamic_[b].count() == 0 && dynamic_[b].shape() != declared) {  // no iteration has given the sizes after the first
      dynamic_[b] = dynamic_[b].reshaped(declared);
      TRY(keep_result(b, dynamic_[b]));
    }
    if (dynamic_[b].shape() != declared)
      return fail(Code::bad_input, step.label,
                  fmt::format("its result '{}' has another shape than the model promises", program_.buffers[b].name))
          .expected(fmt::format("[{}]", fmt::join(declared, ",")))
          .found(fmt::format("[{}]", fmt::join(dynamic_[b].shape(), ",")));
  }
  return {};
}

Result<void> Values::check_type(const Step& step, uint32_t buffer, const Tensor& t) const {
  const BufferInfo& info = program_.buffers[buffer];
  if (is_container(info)) {
    if (has_declared_type(info.container, info.dtype, t)) return {};
    return broken_promise(Code::bad_input, step.label, fmt::format("its result '{}' is not what the model promises", info.name))
        .expected(text_of(info.container, info.dtype))
        .found(type_text(t));
  }
  if (t.dtype() == info.dtype) return {};
  return broken_promise(Code::dtype_mismatch, step.label,
                        fmt::format("its result '{}' has another element type than the model promises", info.name))
      .expected(std::string(name_of(info.dtype)))
      .found(std::string(name_of(t.dtype())));
}

void Values::deliver_results() {
  for (size_t k = 0; k < results_.size(); ++k) {
    const bool written_here = program_.buffers[program_.outputs[k].buffer].kind == BufferInfo::Kind::output;
    if (!written_here || bound_[k].first == nullptr) continue;
    const auto bytes = static_cast<size_t>(results_[k].byte_size());
    if (bytes > 0) std::memcpy(bound_[k].first, results_[k].data(), bytes);
    results_[k] = Tensor::view(results_[k].dtype(), results_[k].shape(), bound_[k].first, nullptr);
  }
}

}  // namespace tenon::runtime
