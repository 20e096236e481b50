// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

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
  const RunOptions* watched = nullptr;   ///< null: nothing can ask the run to stop
  std::atomic<Stop>* stopped = nullptr;  ///< why work was left out

  /// Runs tasks [begin, end), unless the run was asked to stop.
  void operator()(int64_t begin, int64_t end, int thread) const;
};

template <class T>
void change(T& to, T value) {
  if (to != value) to = value;
}

}  // namespace tenon::runtime
