// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <span>
#include <vector>

#include "runtime/run/kernel_calls.h"

namespace tenon::runtime {

/// Kernels over the same rows in one parallel region: a thread runs all of them for its part of the rows.
class Regions {
 public:
  explicit Regions(const Program& program);

  /// The last step of the region that begins at `first`. It is `first` where the step runs alone: no other step is joined to it, or there
  /// is one part for these sizes, or canaries are checked after each step. `first` may be a joined step where the first step of its region
  /// ran alone: then all steps of the region run alone, since values between them are in their buffers.
  uint32_t last_of(uint32_t first, const Values& values) const;
  Result<void> run(uint32_t first, uint32_t last, const Values& values, KernelCalls& calls, const RunOptions& options, int threads);

 private:
  /// Appends to thread_local_arguments_ those of the step.
  void find_thread_local_arguments(const Step& step, size_t first_argument, int64_t parts, int threads, const Values& values);
  /// The arguments with which a thread runs that part.
  void* const* arguments_of(int thread, int64_t part, int64_t parts);
  /// Reports the steps to RunOptions::on_step.
  void report(uint32_t first, std::chrono::steady_clock::time_point start, const RunOptions& options) const;

  const Program& program_;
  std::vector<RegionKernel> kernels_;  // of the current region
  std::vector<ThreadLocalArgument> thread_local_arguments_;
  std::span<void* const> arguments_;
  std::vector<void*> adjusted_arguments_;
};

}  // namespace tenon::runtime
