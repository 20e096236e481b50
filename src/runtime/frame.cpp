// SPDX-License-Identifier: Apache-2.0
#include "runtime/frame.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "base/point_at.h"
#include "base/thread_pool.h"
#include "runtime/container_value.h"
#include "runtime/control.h"
#include "runtime/input_checks.h"
#include "runtime/stopping.h"

namespace tenon::runtime {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kMostElements = int64_t{1} << 45;

bool is_control(const Step& step) { return step.kind == Step::Kind::branch || step.kind == Step::Kind::loop; }

Error too_large(std::string place, const Sizes& shape) {
  return fail(Code::size_overflow, std::move(place), "a value is too large")
      .expected("at most 2^45 elements")
      .found(fmt::format("[{}]", fmt::join(shape, ",")))
      .advice("give smaller inputs");
}

Error too_small(const PortInfo& port, size_t expected, size_t found) {
  return fail(Code::bad_input, port_place("output", port), "the bound memory is too small")
      .expected(fmt::format("{} bytes", expected))
      .found(fmt::format("{} bytes", found));
}

}  // namespace

Frame::Frame(const Engine& engine, const Program& program, bool alternate)
    : engine_(engine),
      program_(program),
      alternate_(alternate),
      shapes_(program.inputs.size()),
      sizes_(program.sizes.size()),
      scratch_stride_(scratch_stride(program)),
      pointers_(program.buffers.size(), nullptr),
      dynamic_(program.buffers.size()),
      segments_(program.steps.size()),
      results_(program.outputs.size()),
      bound_(program.outputs.size()),
      result_blocks_(program.outputs.size()),
      calls_(program.steps.size()) {
  for (uint32_t b = 0; b < program.buffers.size(); ++b) {
    if (program.buffers[b].kind == BufferInfo::Kind::input) input_buffers_.push_back(b);
  }
  for (uint32_t r = 0; r < program.outputs.size(); ++r) {
    const BufferInfo& info = program.buffers[program.outputs[r].buffer];
    if (info.kind == BufferInfo::Kind::input && !is_container(info)) handed_on_.push_back(r);
  }
  for (const Step& step : program.steps) controls_.push_back(is_control(step) ? std::make_unique<Control>(engine, step) : nullptr);
  make_calls();
  if (std::ranges::any_of(engine.devices(), [](const auto& device) { return device->shares_memory(); })) arena_.share();
}

Frame::~Frame() = default;

void Frame::make_calls() {
  size_t arguments = 0, sizes = 0, of_region = 0, most = 0;
  for (const Step& step : program_.steps) {
    arguments += step.buffers.size();
    sizes += step.sizes.size();
    most = std::max(most, of_region = step.joined ? of_region + step.buffers.size() : step.buffers.size());
  }
  arguments_.resize(arguments);
  step_sizes_.resize(sizes);
  kept_.reserve(most);
  region_.reserve(program_.steps.size());
  arguments = sizes = 0;
  for (size_t k = 0; k < calls_.size(); ++k) {
    const Step& step = program_.steps[k];
    calls_[k].arguments = arguments_.data() + arguments;
    calls_[k].sizes = step_sizes_.data() + sizes;
    calls_[k].stopped = &stopped_;
    arguments += step.buffers.size();
    sizes += step.sizes.size();
  }
}

bool Frame::same_sizes(std::span<const Tensor> inputs, std::span<const int64_t> outer) const {
  if (!plan_ || arena_.is_anothers() || !std::ranges::equal(outer, outer_)) return false;
  for (size_t k = 0; k < inputs.size(); ++k)
    if (shapes_[k] != inputs[k].shape()) return false;
  return true;
}

Result<void> Frame::prepare(std::span<const Tensor> inputs, std::span<const int64_t> outer, int threads) {
  if (!same_sizes(inputs, outer)) {
    plan_ = nullptr;
    if (arena_.is_anothers()) plans_.clear();  // it moves: segments set their shapes again
    for (size_t k = 0; k < inputs.size(); ++k) shapes_[k] = inputs[k].shape();
    outer_.assign(outer.begin(), outer.end());
    const SizePlan* const plan = TRY(plan_sizes(inputs));
    point_into(TRY(arena_.reserve(plan->layout.bytes)), plan->layout);
    plan_ = plan;
  }
  TRY(check_elements(program_, inputs, sizes_));
  TRY(scratch_.reserve(scratch_stride_ * static_cast<uint64_t>(threads)));
  return take_inputs(inputs);
}

/// The sizes and layout for these inputs, whose shapes are taken.
Result<const SizePlan*> Frame::plan_sizes(std::span<const Tensor> inputs) {
  key_.assign(outer_.begin(), outer_.end());
  for (const Sizes& shape : shapes_) {
    key_.push_back(static_cast<int64_t>(shape.size()));
    key_.insert(key_.end(), shape.begin(), shape.end());
  }
  if (const SizePlan* const known = plans_.find(key_)) {
    std::ranges::copy(known->sizes, sizes_.begin());
    return known;
  }
  TRY(evaluate_sizes(program_, 0, program_.input_lines, {shapes_, outer_}, sizes_));
  TRY(check_shapes(program_, inputs, sizes_));
  TRY(check_guards(program_, 0, program_.input_lines, sizes_));
  return plans_.keep({key_, {sizes_.begin(), sizes_.begin() + program_.input_lines}, TRY(lay_out(program_, sizes_, margin()))});
}

uint64_t Frame::arena_bytes() const {
  if (!plan_) return 0;
  uint64_t bytes = plan_->layout.bytes;
  for (const auto& [first_line, stage] : stages_) bytes += stage.plan == plan_->number ? stage.bytes : 0;
  return bytes;
}

uint64_t Frame::plans_made() const {
  uint64_t made = plans_.made();
  for (const auto& [first_line, stage] : stages_) made += stage.plans.made();
  return made;
}

/// What stays where it is until the sizes change.
void Frame::point_into(std::byte* arena, const Layout& layout) {
  for (uint32_t b = 0; b < program_.buffers.size(); ++b) {
    const BufferInfo& info = program_.buffers[b];
    if (info.kind == BufferInfo::Kind::arena && !sized_late(program_, info)) pointers_[b] = arena + layout.offsets[b];
    if (info.kind == BufferInfo::Kind::weight) pointers_[b] = const_cast<std::byte*>(engine_.weights()) + info.offset;
  }
}

Result<void> Frame::take_inputs(std::span<const Tensor> inputs) {
  for (uint32_t b : input_buffers_) {
    const Tensor& t = inputs[program_.buffers[b].index];
    pointers_[b] = t.count() > 0 && t.has_bytes() ? const_cast<std::byte*>(t.data()) : nothing_;
    dynamic_[b] = t;
    if (t.holds_tensors()) TRY(keep_result(b, t));  // it may be a result as it is
  }
  for (const uint32_t r : handed_on_) TRY(keep_result(program_.outputs[r].buffer, dynamic_[program_.outputs[r].buffer]));
  return {};
}

Sizes Frame::shape_of(uint32_t buffer) const {
  Sizes shape;
  for (Slot s : program_.buffers[buffer].shape) shape.push_back(sizes_[s]);
  return shape;
}

bool Frame::has_shape(const Tensor& t, uint32_t buffer) const {
  return t.dtype() == program_.buffers[buffer].dtype &&
         std::ranges::equal(t.shape(), program_.buffers[buffer].shape, {}, {}, [&](Slot s) { return sizes_[s]; });
}

Tensor Frame::tensor_of(uint32_t buffer) const {
  const BufferInfo& info = program_.buffers[buffer];
  if (info.kind == BufferInfo::Kind::alias) return tensor_of(info.index).reshaped(shape_of(buffer));
  if (info.kind == BufferInfo::Kind::input || info.kind == BufferInfo::Kind::dynamic) return dynamic_[buffer];
  return Tensor::view(info.dtype, shape_of(buffer), pointers_[buffer], nullptr);
}

/// Results that kernels write: bound memory, or the frame's own. One that shares another's buffer has the place of that.
Result<void> Frame::place_results() {
  const auto each = [&](bool owns, Result<void> (Frame::*place)(size_t)) -> Result<void> {
    for (size_t k = 0; k < results_.size(); ++k) {
      const BufferInfo& info = program_.buffers[program_.outputs[k].buffer];
      if (info.kind == BufferInfo::Kind::output && (info.index == k) == owns) TRY((this->*place)(k));
    }
    return {};
  };
  TRY(each(true, &Frame::place_result));
  return each(false, &Frame::share_result);
}

Result<void> Frame::share_result(size_t k) {
  results_[k] = results_[program_.buffers[program_.outputs[k].buffer].index];
  return {};
}

Result<void> Frame::place_result(size_t k) {
  const PortInfo& port = program_.outputs[k];
  const BufferInfo& info = program_.buffers[port.buffer];
  if (!has_shape(results_[k], port.buffer)) {
    Sizes shape = shape_of(port.buffer);
    const auto count = checked_count(shape);
    if (!count || *count > kMostElements) return too_large(port_place("output", port), shape);
    results_[k] = Tensor::view(info.dtype, std::move(shape), nothing_, nullptr);
  }
  const auto bytes = static_cast<size_t>(results_[k].byte_size());
  if (bound_[k].first != nullptr && bound_[k].second < bytes) return too_small(port, bytes, bound_[k].second);
  if (bound_[k].first != nullptr && !guards_) pointers_[port.buffer] = bound_[k].first;
  else pointers_[port.buffer] = TRY(result_blocks_[k][turn_].reserve(bytes + kSlack + 2 * margin())) + margin();
  if (results_[k].data() != pointers_[port.buffer]) point_at(results_[k], pointers_[port.buffer]);
  return {};
}

/// Guards and memory of what lines [from, to) have told; nothing where they say what they said when they were last looked at.
Result<void> Frame::settle(uint32_t from, uint32_t to) {
  Stage& stage = stages_[from];
  const auto late = std::span(sizes_).subspan(program_.input_lines, to - program_.input_lines);
  if (stage.plan == plan_->number && std::ranges::equal(stage.sizes, late)) return {};
  stage.plan = 0;
  stage.sizes.assign(late.begin(), late.end());
  const SizePlan* const plan = TRY(plan_stage(stage, from, to));
  std::byte* const memory = TRY(stage.memory.reserve(plan->layout.bytes));
  for (uint32_t b = 0; b < program_.buffers.size(); ++b)
    if (sized_by(program_, program_.buffers[b], from, to)) pointers_[b] = memory + plan->layout.offsets[b];
  stage.bytes = plan->layout.bytes;
  stage.plan = plan_->number;
  return {};
}

/// The layout for the stage's sizes, once its guards hold.
Result<const SizePlan*> Frame::plan_stage(Stage& stage, uint32_t from, uint32_t to) {
  key_.assign(1, static_cast<int64_t>(plan_->number));
  key_.insert(key_.end(), stage.sizes.begin(), stage.sizes.end());
  if (const SizePlan* const known = stage.plans.find(key_)) return known;
  TRY(check_guards(program_, from, to, sizes_));
  return stage.plans.keep({key_, {}, TRY(lay_out_late(program_, from, to, sizes_, margin()))});
}

/// Where a step has made a result of the program as a tensor: that tensor itself, or a copy in the memory bound for it.
Result<void> Frame::keep_result(uint32_t buffer, const Tensor& t) {
  for (size_t r = 0; r < results_.size(); ++r) {
    const PortInfo& port = program_.outputs[r];
    if (port.buffer != buffer) continue;
    results_[r] = t;
    if (bound_[r].first == nullptr || !t.has_bytes()) continue;
    const auto bytes = static_cast<size_t>(t.byte_size());
    if (bound_[r].second < bytes) return too_small(port, bytes, bound_[r].second);
    if (bytes > 0) std::memcpy(bound_[r].first, t.data(), bytes);
    results_[r] = Tensor::view(t.dtype(), t.shape(), bound_[r].first, nullptr);
  }
  return {};
}

/// The call of a step's kernel, as things stand now.
KernelCall& Frame::called(uint32_t number, const RunOptions& options) {
  const Step& step = program_.steps[number];
  KernelCall& call = calls_[number];
  for (size_t k = 0; k < step.buffers.size(); ++k) change(call.arguments[k], pointers_[step.buffers[k]]);
  for (size_t k = 0; k < step.sizes.size(); ++k) change(call.sizes[k], sizes_[step.sizes[k]]);
  change(call.function, engine_.kernel(step.code));
  change(call.scratch, scratch_of(0));
  change(call.stride, scratch_stride_);
  change(call.watched, is_watched(options) ? &options : nullptr);
  const int64_t grain = std::clamp<int64_t>(sizes_[step.grain], 1, kMostElements);
  change(call.piece, grain > 1 ? grain * kChunksOfAPiece : 1);  // a task that is a chunk may take any time
  return call;
}

Result<void> Frame::run_kernel(uint32_t number, const RunOptions& options, int threads) {
  const Step& step = program_.steps[number];
  const int64_t tasks = sizes_[step.tasks];
  if (tasks <= 0) return {};
  thread_pool_of(options).run(tasks, std::max<int64_t>(1, sizes_[step.grain]), called(number, options), threads);
  return go_on(stopped_.load(std::memory_order_relaxed), step.label);  // the token may be reset by now, but work was left out
}

/// An empty handle where one is missing.
std::vector<Tensor> Frame::tensors_of(std::span<const uint32_t> buffers) const {
  std::vector<Tensor> out(buffers.size());
  for (size_t k = 0; k < out.size(); ++k)
    if (buffers[k] != kMissing) out[k] = tensor_of(buffers[k]);
  return out;
}

Result<void> Frame::run_control(uint32_t number, const RunOptions& options) {
  const Step& step = program_.steps[number];
  const std::vector<Tensor> operands = tensors_of(step.buffers);
  const std::span<int64_t> sizes(calls_[number].sizes, step.sizes.size());
  for (size_t k = 0; k < sizes.size(); ++k) sizes[k] = sizes_[step.sizes[k]];
  std::vector<Control::Place> places(step.results.size());
  for (size_t k = 0; k < places.size(); ++k) {
    const uint32_t b = step.results[k];
    if (b != kMissing && program_.buffers[b].kind != BufferInfo::Kind::dynamic) places[k] = {pointers_[b], shape_of(b)};
  }
  return take_results(step, TRY(controls_[number]->run(operands, sizes, places, options)));
}

/// Sizes that only the results tell, and the results themselves where no buffer was there before them.
Result<void> Frame::take_results(const Step& step, std::span<const Tensor> out) {
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
    pointers_[b] = out[k].count() > 0 && out[k].has_bytes() ? dynamic_[b].mutable_data() : nothing_;
    TRY(keep_result(b, out[k]));
  }
  return {};
}

/// Sizes that the results of step `number` have told, and what follows from them; then the results are held against what was promised.
Result<void> Frame::learn_sizes(uint32_t number, uint32_t& lines) {
  const uint32_t known =
      number + 1 < program_.steps.size() ? program_.steps[number + 1].lines : static_cast<uint32_t>(program_.sizes.size());
  if (known > lines) {
    TRY(evaluate_sizes(program_, lines, known, {shapes_, outer_}, sizes_));
    TRY(settle(lines, known));
    lines = known;
    TRY(place_results());
  }
  const Step& step = program_.steps[number];
  for (size_t k = 0; k < step.results.size(); ++k) {
    const uint32_t b = step.results[k];
    if (b == kMissing || program_.buffers[b].kind != BufferInfo::Kind::dynamic || program_.buffers[b].unranked ||
        is_container(program_.buffers[b]))
      continue;
    const Sizes promised = shape_of(b);
    const bool no_rows = step.kind == Step::Kind::loop && k >= step.carried && !promised.empty() && promised[0] == 0;
    if (no_rows && dynamic_[b].count() == 0 && dynamic_[b].shape() != promised) {  // no turn has told the sizes behind the first
      dynamic_[b] = dynamic_[b].reshaped(promised);
      TRY(keep_result(b, dynamic_[b]));
    }
    if (dynamic_[b].shape() != promised)
      return fail(Code::bad_input, step.label,
                  fmt::format("its result '{}' has another shape than the model promises", program_.buffers[b].name))
          .expected(fmt::format("[{}]", fmt::join(promised, ",")))
          .found(fmt::format("[{}]", fmt::join(dynamic_[b].shape(), ",")));
  }
  return {};
}

void Frame::write_sizes(const Step& step) {
  const uint32_t b = step.buffers[0];
  Tensor to = Tensor::view(program_.buffers[b].dtype, {static_cast<int64_t>(step.sizes.size())}, pointers_[b], nullptr);
  for (size_t k = 0; k < step.sizes.size(); ++k) to.set_integer(static_cast<int64_t>(k), sizes_[step.sizes[k]]);
}

/// Kernels hold an index inside its table; one that was outside is an error, not a wrong row.
Result<void> Frame::check_indices(const Step& step) const {
  const int64_t smallest = *static_cast<const int64_t*>(pointers_[step.buffers[0]]);
  const int64_t largest = *static_cast<const int64_t*>(pointers_[step.buffers[1]]);
  const int64_t extent = sizes_[step.sizes[0]], lowest = step.code == 1 ? -extent : 0;
  if (smallest > largest || (smallest >= lowest && largest < extent)) return {};  // the first: there is no index at all
  return fail(Code::index_out_of_range, step.label, "an index that the model computes is outside the table that it points into")
      .expected(fmt::format("{} .. {}", lowest, extent - 1))
      .found(std::to_string(largest >= extent ? largest : smallest))
      .advice("a sequence longer than the model's table of positions does this; give shorter inputs");
}

/// Numbers the wanted places; their own numbers stand in memory that only grows.
Result<void> Frame::pack_rows(const Step& step) {
  const int64_t sequences = sizes_[step.sizes[0]], length = sizes_[step.sizes[1]];
  const auto* const keep = static_cast<const uint8_t*>(pointers_[step.buffers[0]]);
  auto* const places = static_cast<int64_t*>(pointers_[step.results[1]]);
  auto* const starts = static_cast<int64_t*>(pointers_[step.results[2]]);
  if (sizes_[program_.buffers[step.results[2]].shape[0]] != sequences + 1)
    return fail(Code::internal, step.label, "starts of sequences have no room");
  dynamic_[step.results[0]] = Tensor();
  std::shared_ptr<Tensor>& room = row_numbers_[step.results[0]];
  if (!room || room.use_count() > 1 || room->count() < sequences * length)
    room = std::make_shared<Tensor>(TRY(Tensor::make(DType::i64, {sequences * length})));
  auto* const rows = room->as_mutable<int64_t>().data();
  int64_t count = 0;
  for (int64_t s = 0; s < sequences; ++s) {
    starts[s] = count;
    for (int64_t at = s * length; at < (s + 1) * length; ++at) {
      const bool wanted = keep[at] != 0;
      places[at] = wanted ? count : 0;
      rows[count] = at;  // what comes next writes over it where this is not wanted
      count += wanted;
    }
  }
  starts[sequences] = count;
  const Tensor found[] = {Tensor::view(DType::i64, {count}, rows, room), Tensor(), Tensor()};
  return take_results(step, found);
}

Result<void> Frame::run_step(uint32_t number, const RunOptions& options, int threads) {
  const Step& step = program_.steps[number];
  switch (step.kind) {
    case Step::Kind::kernel: return run_kernel(number, options, threads);
    case Step::Kind::segment: return run_segment(step, options, threads);
    case Step::Kind::sizes: write_sizes(step); return {};
    case Step::Kind::branch:
    case Step::Kind::loop: return run_control(number, options);
    case Step::Kind::check: return check_indices(step);
    case Step::Kind::rows: return pack_rows(step);
  }
  return {};
}

Result<std::span<const Tensor>> Frame::run(std::span<const Tensor> inputs, std::span<const int64_t> outer, const RunOptions& options) {
  TRY(check_types(program_, inputs));
  if (alternate_) turn_ = 1 - turn_;
  const int all = thread_pool_of(options).size(), threads = options.threads > 0 ? std::min(options.threads, all) : all;
  guard(options.guard);
  stopped_.store(Stop::none, std::memory_order_relaxed);
  TRY(prepare(inputs, outer, threads));
  TRY(run_steps(options, threads));
  TRY(go_on(asked_to_stop(options), "run"));
  return std::span<const Tensor>(results_);
}

Result<void> Frame::run_steps(const RunOptions& options, int threads) {
  uint32_t lines = program_.input_lines;
  TRY(place_results());
  for (uint32_t k = 0; k < program_.steps.size(); ++k) {
    const Step& step = program_.steps[k];
    TRY(go_on(asked_to_stop(options), step.label));
    if (const uint32_t last = last_of_region(k); last > k) {
      TRY(run_region(k, last, options, threads));
      TRY(learn_sizes(k = last, lines));
      continue;
    }
    if (guards_) guard_before(k, lines, threads);
    const auto start = options.on_step ? Clock::now() : Clock::time_point{};
    TRY(run_step(k, options, threads));
    if (guards_) TRY(guard_after(k, threads));
    if (options.on_step) options.on_step(k, start, Clock::now());
    TRY(learn_sizes(k, lines));
  }
  if (guards_) deliver();
  return {};
}

}  // namespace tenon::runtime
