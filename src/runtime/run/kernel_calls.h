// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <vector>

#include "runtime/run/kernel_call.h"
#include "runtime/run/memory.h"
#include "runtime/run/values.h"

namespace tenon::runtime {

/// The calls of a program's kernels, and scratch memory for them.
class KernelCalls {
 public:
  KernelCalls(const Engine& engine, const Program& program);

  /// Before the steps of a run. margin: bytes kept free on each side of each thread's scratch memory. Errors: out_of_memory.
  Result<void> begin(int threads, uint64_t margin);
  /// The call of a step's kernel with the present sizes and pointers. kernel: the step's.
  KernelCall& call(uint32_t number, const KernelStep& kernel, const Values& values, const RunOptions& options);
  Result<void> run(uint32_t number, const KernelStep& kernel, const Values& values, const RunOptions& options, int threads);
  /// Why work was left out in this run, if it was.
  Stop stopped() const { return stopped_.load(std::memory_order_relaxed); }
  std::byte* scratch_of(int thread) const { return scratch_.data() + margin_ + stride_ * static_cast<uint64_t>(thread); }

 private:
  const Engine& engine_;
  const Program& program_;
  std::vector<KernelCall> calls_;  // by step
  std::vector<void*> arguments_;   // of all calls
  std::vector<int64_t> sizes_;     // likewise
  Block scratch_;
  uint64_t stride_ = 0, margin_ = 0;
  std::atomic<Stop> stopped_{Stop::none};
};

}  // namespace tenon::runtime
