// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "codegen/cost/machine.h"
#include "codegen/cost/work.h"

namespace tenon::codegen {

/// How a kernel is called: what Kernel::tasks and Kernel::grain are, and the bytes that it reads and writes, each where it finds them.
struct Call {
  int64_t tasks = 1, grain = 1;
  double second = 0, third = 0, memory = 0;  ///< bytes: in the second-level cache (or nearer), the third, in memory
  double exchanged = 0, taken = 0;           ///< bytes that are read, and written, where another core wrote last
};

/// How many threads take part in it.
int threads_of(const Call& call, const Machine& machine);

/// What holds a kernel back. latency: instructions wait for each other, or lanes and rows are computed in vain.
enum class Limit : uint8_t { peak, latency, second, third, memory, exchange, start };
/// "peak", "latency", "second-level cache", ...
std::string_view name_of(Limit limit);

struct Prediction {
  double ns = 0;
  Limit limit = Limit::start;
  double limit_ns = 0;  ///< what the limit alone takes; of peak and latency: the operations at the peak
};

/// The time of a kernel, from sizes, tactic, target and machine. More work, bytes or tasks never take less; all sizes are numbers.
Prediction predict(const Work& work, const Call& call, const Target& target, const Machine& machine);

/// In a few words how the sizes fall into tiles and lanes: "128 rows are 10 tiles of 13 or 12". All sizes are numbers.
std::string reason(const Work& work, const Target& target);

}  // namespace tenon::codegen
