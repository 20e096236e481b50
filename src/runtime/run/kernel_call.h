// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/threads/thread_pool.h"
#include "runtime/kernel.h"
#include "runtime/run_options.h"
#include "runtime/stopping.h"

namespace tenon::runtime {

/// A kernel with its arguments in one step. It is kept between runs, and values that do not change are not written again, so that it stays
/// in the caches of the worker threads.
struct alignas(64) KernelCall {
  KernelFunction function = nullptr;
  void** arguments = nullptr;  ///< as KernelArgs::buffers
  int64_t* sizes = nullptr;
  std::byte* scratch = nullptr;  ///< of thread 0; those of the others follow at `stride` bytes
  uint64_t stride = 0;
  const RunOptions* stop_options = nullptr;  ///< options of a run that may be stopped; null: it cannot be stopped
  std::atomic<Stop>* stopped = nullptr;      ///< set to the reason once the run is stopped
  int64_t piece = 1;                         ///< where `watched`: tasks between two checks whether the run is to stop

  /// Checks whether the run may continue; sets `stopped` where a stop was requested.
  bool may_continue() const;
  /// Runs tasks [begin, end), with `buffers` in place of `arguments`.
  void run(void* const* buffers, int64_t begin, int64_t end, int thread) const;
  /// Runs tasks [begin, end) piece by piece, until the run must stop.
  void operator()(int64_t begin, int64_t end, int thread) const {
    const int64_t step = stop_options != nullptr ? piece : end - begin;
    for (int64_t from = begin; from < end && may_continue(); from += step) run(arguments, from, std::min(from + step, end), thread);
  }
};

/// Chunks in a KernelCall::piece; each is about a microsecond of work.
constexpr int64_t kChunksOfAPiece = 16;

/// A kernel of a region (see Regions).
struct RegionKernel {
  const KernelCall* call = nullptr;
  size_t first_argument = 0;     ///< index among the arguments of the region
  int64_t tasks = 0, units = 1;  ///< tasks: those of a unit
  int64_t nanoseconds = 0;       ///< of all threads, where requested
};

/// A value that only the kernels of a region use. Each thread stores its part in memory of its own, which its caches hold.
struct ThreadLocalArgument {
  size_t number = 0;  ///< index among the arguments of the region
  int64_t units = 0, bytes_of_unit = 0;
};

inline ThreadPool& thread_pool_of(const RunOptions& options) {
  return options.thread_pool != nullptr ? *options.thread_pool : default_thread_pool();
}

/// Assigns where the value differs, so that equal values write no memory.
template <class T>
void assign_if_changed(T& to, T value) {
  if (to != value) to = value;
}

}  // namespace tenon::runtime
