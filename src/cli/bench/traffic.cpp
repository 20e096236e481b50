// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/traffic.h"

#include <algorithm>
#include <map>
#include <optional>

#include "cli/bench/arena_owners.h"
#include "cli/bench/trace.h"

namespace tenon::cli {
namespace {

using runtime::BufferInfo;

/// Bytes that were touched since the first step.
struct Moved {
  double weights = 0, others = 0;
};

/// Runs through a program, to see which bytes come from where.
class Traffic {
 public:
  Traffic(const runtime::Program& program, std::vector<int64_t> sizes, std::span<const std::optional<codegen::Work>> works,
          const codegen::Machine& machine, runtime::Layout layout)
      : program_(program),
        sizes_(std::move(sizes)),
        works_(works),
        machine_(machine),
        layout_(std::move(layout)),
        owners_(layout_.bytes),
        touched_(program.buffers.size()) {}

  codegen::KernelCall call_of(uint32_t step) {
    const runtime::Step& s = program_.steps[step];
    codegen::KernelCall out{.tasks = 1, .grain = 1};
    if (const auto* kernel = runtime::as<runtime::KernelStep>(s))
      out = {.tasks = std::max<int64_t>(1, size(kernel->tasks)), .grain = std::max<int64_t>(1, size(kernel->grain))};
    const int threads = codegen::threads_of(out, machine_);
    for (const auto& [b, pattern] : patterns_of(step)) {
      const bool in_order = threads == 1 || pattern.parts.value() >= threads;
      const double readings = pattern.whole && !in_order ? threads : 1, bytes = bytes_of(program_.buffers[b], pattern);
      touch(b, step, pattern, bytes, readings, share_of_other_threads(b, bytes, pattern, threads, in_order), out);
    }
    return out;
  }

 private:
  int64_t size(runtime::Slot slot) const { return slot < sizes_.size() ? sizes_[slot] : 1; }

  /// How a step accesses each of its buffers.
  std::map<uint32_t, codegen::AccessPattern> patterns_of(uint32_t step) const {
    std::map<uint32_t, codegen::AccessPattern> out;
    const auto& buffers = program_.steps[step].buffers;
    for (size_t k = 0; k < buffers.size(); ++k) {
      uint32_t b = buffers[k];
      while (b != runtime::kMissing && program_.buffers[b].kind == BufferInfo::Kind::alias) b = program_.buffers[b].index;
      if (b == runtime::kMissing) continue;
      const bool known = step < works_.size() && works_[step] && k < works_[step]->access_patterns.size();
      out.emplace(b, known ? works_[step]->access_patterns[k] : codegen::AccessPattern{});
    }
    return out;
  }

  double bytes_of(const BufferInfo& info, const codegen::AccessPattern& pattern) const {
    double elements = 1;
    for (const runtime::Slot slot : info.shape) elements *= static_cast<double>(size(slot));
    return std::min(elements, static_cast<double>(pattern.elements.value())) * bits_of(info.dtype) / 8;
  }

  /// Of the bytes of a buffer that the threads access, the fraction that another thread wrote; 0 for weights and inputs of the run.
  double share_of_other_threads(uint32_t b, double bytes, const codegen::AccessPattern& pattern, int threads, bool in_order) {
    if (program_.buffers[b].kind != BufferInfo::Kind::arena) return 0;
    const double out = owners_.share_of_other_threads(layout_.offsets[b], bytes, threads, in_order);
    if (pattern.written) owners_.record_writes(layout_.offsets[b], bytes, threads, in_order);
    return out;
  }

  /// The fraction of a buffer that is still in a cache of that size when `back` bytes were accessed since: 1 up to the cache's size,
  /// falling to 0 at twice the size.
  static double cached_share(double back, int64_t cache) { return std::clamp(2 - back / static_cast<double>(cache), 0.0, 1.0); }

  void touch(uint32_t b, uint32_t step, const codegen::AccessPattern& pattern, double bytes, double readings, double share_of_other_threads,
             codegen::KernelCall& call) {
    const BufferInfo& info = program_.buffers[b];
    const bool weight = info.kind == BufferInfo::Kind::weight, fresh = info.kind == BufferInfo::Kind::arena && info.first == step;
    const Moved since = touched_[b] ? Moved{now_.weights - touched_[b]->weights, now_.others - touched_[b]->others} : now_;
    // Values share an arena, which is about as large as the largest step's.
    const double back = bytes + (fresh ? 0 : since.weights + std::min(since.others, 2 * largest_));
    (weight ? now_.weights : now_.others) += bytes;
    if (!weight) largest_ = std::max(largest_, bytes);
    touched_[b] = now_;
    const double near = cached_share(back, machine_.l2_bytes * machine_.threads),
                 on_chip = std::max(near, cached_share(back, machine_.l3_bytes));
    // Writes overlap with reads.
    constexpr double kWritten = 0.75;
    const double moved = weight ? bytes : pattern.written ? bytes * kWritten : bytes * readings, own = moved * (1 - share_of_other_threads);
    if (pattern.written) call.shared_written_bytes += bytes * share_of_other_threads * on_chip;
    else call.shared_read_bytes += (moved - own) * on_chip;
    call.l2_bytes += own * near;
    call.l3_bytes += own * (on_chip - near);
    call.memory_bytes += bytes * (1 - on_chip);
  }

  const runtime::Program& program_;
  const std::vector<int64_t> sizes_;
  std::span<const std::optional<codegen::Work>> works_;
  const codegen::Machine& machine_;
  const runtime::Layout layout_;
  ArenaOwners owners_;
  Moved now_;
  double largest_ = 0;                         ///< bytes of a value
  std::vector<std::optional<Moved>> touched_;  ///< of each buffer: what `now_` was then
};

/// The size table for these inputs, as far as it follows from their shapes; states are at their initial values.
Result<std::vector<int64_t>> input_sizes(const runtime::Program& program, std::span<const Tensor> inputs) {
  std::vector<std::vector<int64_t>> shapes;
  for (const Tensor& t : inputs) shapes.push_back(t.shape());
  std::vector<int64_t> sizes;
  const std::vector<int64_t> lengths(program.states.size());
  TRY(runtime::evaluate_sizes(program, 0, program.input_lines, {shapes, {}, lengths}, sizes));
  return sizes;
}

}  // namespace

Result<std::vector<codegen::KernelCall>> calls_of_steps(const runtime::Program& program, std::span<const Tensor> inputs,
                                                        std::span<const std::optional<codegen::Work>> works,
                                                        const codegen::Machine& machine) {
  std::vector<int64_t> sizes = TRY(input_sizes(program, inputs));
  runtime::Layout layout = TRY(runtime::lay_out(program, sizes));
  Traffic traffic(program, std::move(sizes), works, machine, std::move(layout));
  std::vector<codegen::KernelCall> out;
  for (int run = 0; run < 2; ++run) {
    out.clear();
    for (uint32_t s = 0; s < program.steps.size(); ++s) out.push_back(traffic.call_of(s));
  }
  return out;
}

}  // namespace tenon::cli
