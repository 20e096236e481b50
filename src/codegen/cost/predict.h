// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "codegen/cost/machine.h"
#include "codegen/cost/work.h"

namespace tenon::codegen {

/// One call of a kernel: how its tasks are split, and how many bytes come from each level of memory.
struct KernelCall {
  int64_t tasks = 1;                ///< value of Kernel::tasks
  int64_t grain = 1;                ///< value of Kernel::grain: fewest tasks that one thread takes
  double l2_bytes = 0;              ///< bytes that lie in the second-level cache or nearer
  double l3_bytes = 0;              ///< bytes that lie in the third-level cache
  double memory_bytes = 0;          ///< bytes that lie in main memory
  double shared_read_bytes = 0;     ///< bytes that are read and that another core wrote last
  double shared_written_bytes = 0;  ///< bytes that are overwritten and that another core wrote last
};

/// The number of threads that run tasks of this call.
int threads_of(const KernelCall& call, const Machine& machine);

/// What takes most of a kernel's time.
enum class Limit : uint8_t {
  peak,     ///< arithmetic at the peak of the instructions
  latency,  ///< arithmetic below half of the peak: instructions wait for results, or (counted here too) padding lanes and rows are computed
  l2,       ///< reads from the second-level cache
  l3,       ///< reads from the third-level cache
  memory,   ///< reads from main memory
  sharing,  ///< reads and writes of what another core wrote
  start,    ///< the call itself: fork and join of threads, entry of tasks
};
/// "peak", "latency", "second-level cache", ...
std::string_view name_of(Limit limit);

struct Prediction {
  double ns = 0;               ///< predicted time of the call
  Limit limit = Limit::start;  ///< the largest part of it
  double limit_ns = 0;         ///< time of that part alone; of peak and latency: of the operations at the peak
};

/// Predicts the time of a kernel from its work, its call, the target and the machine. More work, bytes or tasks never take less time. All
/// sizes in `work` must be numbers (with_sizes).
Prediction predict(const Work& work, const KernelCall& call, const Target& target, const Machine& machine);

/// A short text on how the sizes divide into tiles and lanes: "128 rows are 10 of 13 or 12" (tiles). All sizes in `work` must be numbers.
std::string tiling_text(const Work& work, const Target& target);

}  // namespace tenon::codegen
