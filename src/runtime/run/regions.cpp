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

/// Limits under which a size times a number of parts fits in 64 bits.
constexpr int64_t kMaxParts = 1 << 20, kMaxUnits = int64_t{1} << 40;

/// Runs part `number` of the kernel's tasks. False: the run was stopped before all of them ran.
bool run_part(const RegionKernel& kernel, void* const* arguments, int thread, int64_t number, int64_t parts) {
  const int64_t begin = number * kernel.units / parts * kernel.tasks, end = (number + 1) * kernel.units / parts * kernel.tasks;
  const int64_t piece = kernel.call->stop_options != nullptr ? kernel.call->piece : end - begin;
  for (int64_t from = begin; from < end; from += piece) {
    if (!kernel.call->may_continue()) return false;
    kernel.call->run(arguments + kernel.first_argument, from, std::min(from + piece, end), thread);
  }
  return true;
}

}  // namespace

Regions::Regions(const Program& program) : program_(program) {
  size_t region_buffers = 0, max_buffers = 0;
  for (const Step& step : program.steps)
    max_buffers = std::max(max_buffers, region_buffers = is_joined(step) ? region_buffers + step.buffers.size() : step.buffers.size());
  thread_local_arguments_.reserve(max_buffers);
  kernels_.reserve(program.steps.size());
}

uint32_t Regions::last_of(uint32_t first, const Values& values) const {
  uint32_t last = first;
  if (values.has_canaries() || is_joined(program_.steps[first])) return first;
  while (last + 1 < program_.steps.size() && is_joined(program_.steps[last + 1])) ++last;
  for (uint32_t k = first; k <= last && last > first; ++k) {
    const KernelStep& kernel = *as<KernelStep>(program_.steps[k]);
    const int64_t parts = values.size(*kernel.parts), units = values.size(*kernel.units);
    if (parts <= 1 || parts > kMaxParts || units <= 0 || units > kMaxUnits || values.size(kernel.tasks) % units != 0) return first;
  }
  return last;
}

/// A buffer that only kernels of the region use is thread-local where its memory has room for one piece for each thread.
void Regions::find_thread_local_arguments(const Step& step, size_t first_argument, int64_t parts, int threads, const Values& values) {
  for (size_t k = 0; k < step.buffers.size(); ++k) {
    const BufferInfo& info = program_.buffers[step.buffers[k]];
    if (!info.units) continue;
    int64_t elements = 1;
    for (const Slot s : info.shape) elements *= values.size(s);
    const int64_t units = values.size(*info.units), bytes = bytes_of(info.dtype, elements);
    if (units > 0 && units <= kMaxUnits && bytes % units == 0 && ceil_div(units, parts) * threads <= units)
      thread_local_arguments_.push_back({first_argument + k, units, bytes / units});
  }
}

/// The addresses of thread-local arguments are moved so that the part lies in the thread's own piece of the buffer.
void* const* Regions::arguments_of(int thread, int64_t part, int64_t parts) {
  void** const own = adjusted_arguments_.data() + arguments_.size() * static_cast<size_t>(thread);
  std::ranges::copy(arguments_, own);
  for (const ThreadLocalArgument& local : thread_local_arguments_) {
    const int64_t from = part * local.units / parts, piece = ceil_div(local.units, parts) * thread;
    own[local.number] = static_cast<std::byte*>(own[local.number]) + (piece - from) * local.bytes_of_unit;
  }
  return own;
}

Result<void> Regions::run(uint32_t first, uint32_t last, const Values& values, KernelCalls& calls, const RunOptions& options, int threads) {
  const int64_t parts = values.size(*as<KernelStep>(program_.steps[first])->parts);
  size_t arguments = 0;
  int64_t useful_threads = 1;  // threads
  kernels_.clear();
  thread_local_arguments_.clear();
  for (uint32_t k = first; k <= last; ++k) {
    const Step& step = program_.steps[k];
    const KernelStep& kernel = *as<KernelStep>(step);
    find_thread_local_arguments(step, arguments, parts, threads, values);
    const int64_t tasks = values.size(kernel.tasks), units = values.size(*kernel.units),
                  grain = std::max<int64_t>(1, values.size(kernel.grain));
    useful_threads = std::max(useful_threads, ceil_div(tasks, grain));
    kernels_.push_back(
        {.call = &calls.call(k, kernel, values, options), .first_argument = arguments, .tasks = tasks / units, .units = units});
    arguments += step.buffers.size();
  }
  arguments_ = {kernels_[0].call->arguments, arguments};  // arguments of consecutive steps are contiguous
  adjusted_arguments_.resize(arguments * static_cast<size_t>(threads));
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
  thread_pool_of(options).run(parts, ceil_div(parts, std::min(useful_threads, parts)), body, threads);
  if (timed) report(first, start, options);
  return check_not_stopped(calls.stopped(), program_.steps[first].label);
}

/// Kernels are reported one after the other. Each gets the share of the region's time that it had of the threads' time.
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
