// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/regions.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "base/checked.h"
#include "base/threads/thread_pool.h"
#include "runtime/stopping.h"

namespace tenon::runtime {

namespace {

using Clock = std::chrono::steady_clock;

int64_t nanoseconds_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
}

/// Products of a size and a number of parts stay in 64 bits.
constexpr int64_t kMostParts = 1 << 20, kMostUnits = int64_t{1} << 40;

/// Part `number` of the kernel's tasks; false: not all of them.
bool run_part(const RegionKernel& kernel, void* const* arguments, int thread, int64_t number, int64_t parts) {
  const int64_t begin = number * kernel.units / parts * kernel.tasks, end = (number + 1) * kernel.units / parts * kernel.tasks;
  const int64_t piece = kernel.call->watched != nullptr ? kernel.call->piece : end - begin;
  for (int64_t from = begin; from < end; from += piece) {
    if (!kernel.call->may_continue()) return false;
    kernel.call->run(arguments + kernel.first_argument, from, std::min(from + piece, end), thread);
  }
  return true;
}

}  // namespace

Regions::Regions(const Program& program) : program_(program) {
  size_t of_region = 0, most = 0;
  for (const Step& step : program.steps)
    most = std::max(most, of_region = is_joined(step) ? of_region + step.buffers.size() : step.buffers.size());
  kept_.reserve(most);
  kernels_.reserve(program.steps.size());
}

uint32_t Regions::last_of(uint32_t first, const Values& values) const {
  uint32_t last = first;
  if (values.has_canaries() || is_joined(program_.steps[first])) return first;
  while (last + 1 < program_.steps.size() && is_joined(program_.steps[last + 1])) ++last;
  for (uint32_t k = first; k <= last && last > first; ++k) {
    const KernelStep& kernel = *as<KernelStep>(program_.steps[k]);
    const int64_t parts = values.size(*kernel.parts), units = values.size(*kernel.units);
    if (parts <= 1 || parts > kMostParts || units <= 0 || units > kMostUnits || values.size(kernel.tasks) % units != 0) return first;
  }
  return last;
}

/// What the step's neighbours alone see, where there is room for a piece of each thread.
void Regions::keep_arguments(const Step& step, size_t first_argument, int64_t parts, int threads, const Values& values) {
  for (size_t k = 0; k < step.buffers.size(); ++k) {
    const BufferInfo& info = program_.buffers[step.buffers[k]];
    if (!info.units) continue;
    int64_t elements = 1;
    for (const Slot s : info.shape) elements *= values.size(s);
    const int64_t units = values.size(*info.units), bytes = bytes_of(info.dtype, elements);
    if (units > 0 && units <= kMostUnits && bytes % units == 0 && ceil_div(units, parts) * threads <= units)
      kept_.push_back({first_argument + k, units, bytes / units});
  }
}

/// The region's, with those that the thread keeps moved so that the part begins where its own piece does.
void* const* Regions::arguments_of(int thread, int64_t part, int64_t parts) {
  void** const own = arguments_of_threads_.data() + arguments_.size() * static_cast<size_t>(thread);
  std::ranges::copy(arguments_, own);
  for (const ThreadLocalArgument& kept : kept_) {
    const int64_t from = part * kept.units / parts, piece = ceil_div(kept.units, parts) * thread;
    own[kept.number] = static_cast<std::byte*>(own[kept.number]) + (piece - from) * kept.bytes_of_unit;
  }
  return own;
}

Result<void> Regions::run(uint32_t first, uint32_t last, const Values& values, KernelCalls& calls, const RunOptions& options, int threads) {
  const int64_t parts = values.size(*as<KernelStep>(program_.steps[first])->parts);
  size_t arguments = 0;
  int64_t worth = 1;  // threads
  kernels_.clear();
  kept_.clear();
  for (uint32_t k = first; k <= last; ++k) {
    const Step& step = program_.steps[k];
    const KernelStep& kernel = *as<KernelStep>(step);
    keep_arguments(step, arguments, parts, threads, values);
    const int64_t tasks = values.size(kernel.tasks), units = values.size(*kernel.units),
                  grain = std::max<int64_t>(1, values.size(kernel.grain));
    worth = std::max(worth, ceil_div(tasks, grain));
    kernels_.push_back(
        {.call = &calls.call(k, kernel, values, options), .first_argument = arguments, .tasks = tasks / units, .units = units});
    arguments += step.buffers.size();
  }
  arguments_ = {kernels_[0].call->arguments, arguments};  // those of neighbours follow each other
  arguments_of_threads_.resize(arguments * static_cast<size_t>(threads));
  const bool timed = static_cast<bool>(options.on_step);
  const auto start = timed ? Clock::now() : Clock::time_point{};
  auto body = [&](int64_t begin, int64_t end, int thread) {
    for (int64_t part = begin; part < end; ++part) {
      void* const* const own = arguments_of(thread, part, parts);
      for (RegionKernel& kernel : kernels_) {
        const auto before = timed ? Clock::now() : Clock::time_point{};
        if (!run_part(kernel, own, thread, part, parts)) return;
        if (timed) std::atomic_ref(kernel.nanoseconds).fetch_add(nanoseconds_since(before), std::memory_order_relaxed);
      }
    }
  };
  thread_pool_of(options).run(parts, ceil_div(parts, std::min(worth, parts)), body, threads);
  if (timed) report(first, start, options);
  return check_not_stopped(calls.stopped(), program_.steps[first].label);
}

/// One after the other, as if each had the share of the region's time that it had of its threads'.
void Regions::report(uint32_t first, Clock::time_point start, const RunOptions& options) const {
  const int64_t whole = nanoseconds_since(start);
  int64_t all = 0, before = 0;
  for (const RegionKernel& kernel : kernels_) all += kernel.nanoseconds;
  const auto at = [&](int64_t spent) {
    const double share = all > 0 ? static_cast<double>(spent) / static_cast<double>(all) : 0;
    return start + std::chrono::nanoseconds(static_cast<int64_t>(share * static_cast<double>(whole)));
  };
  for (size_t k = 0; k < kernels_.size(); ++k) {
    options.on_step(first + static_cast<uint32_t>(k), at(before), at(before + kernels_[k].nanoseconds));
    before += kernels_[k].nanoseconds;
  }
}

}  // namespace tenon::runtime
