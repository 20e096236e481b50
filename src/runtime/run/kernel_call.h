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

/// What a kernel is called with in a step. It outlives the run, and what is as it was is not written again: what the workers read of it
/// then stays in their caches from run to run.
struct alignas(64) KernelCall {
  KernelFunction function = nullptr;
  void** arguments = nullptr;  ///< as KernelArgs::buffers
  int64_t* sizes = nullptr;
  std::byte* scratch = nullptr;  ///< of thread 0; those of the others follow at `stride` bytes
  uint64_t stride = 0;
  const RunOptions* watched = nullptr;   ///< null: the run cannot be stopped
  std::atomic<Stop>* stopped = nullptr;  ///< why work was left out
  int64_t piece = 1;                     ///< tasks between two checks whether the run must stop, where it is watched

  /// Whether the run goes on: no stop was requested.
  bool goes_on() const;
  /// Runs tasks [begin, end), with these arguments in place of its own.
  void run(void* const* these, int64_t begin, int64_t end, int thread) const;
  /// Runs tasks [begin, end) piece by piece, until the run must stop.
  void operator()(int64_t begin, int64_t end, int thread) const {
    const int64_t step = watched != nullptr ? piece : end - begin;
    for (int64_t from = begin; from < end && goes_on(); from += step) run(arguments, from, std::min(from + step, end), thread);
  }
};

/// Chunks (a microsecond of work each) between two checks whether the run must stop.
constexpr int64_t kChunksOfAPiece = 16;

/// A kernel of a region of several.
struct KernelOfRegion {
  const KernelCall* call = nullptr;
  size_t first_argument = 0;     ///< of the region's
  int64_t tasks = 0, units = 1;  ///< tasks: those of a unit
  int64_t nanoseconds = 0;       ///< of all threads, where requested
};

/// An argument that a thread keeps its part of in a piece of memory of its own, which its caches hold.
struct KeptArgument {
  size_t number = 0;  ///< among all of the region's
  int64_t units = 0, bytes_of_unit = 0;
};

inline ThreadPool& thread_pool_of(const RunOptions& options) {
  return options.thread_pool != nullptr ? *options.thread_pool : default_thread_pool();
}

template <class T>
void change(T& to, T value) {
  if (to != value) to = value;
}

}  // namespace tenon::runtime
