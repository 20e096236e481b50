// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/random.h"

namespace tenon::inline base {
class ThreadPool;
}

namespace tenon::runtime {

/// Requests that a running context stop; checked between chunks of work (about every 50 us).
struct StopToken {
  std::atomic<bool> stop{false};
};

/// Options of one run.
struct RunOptions {
  int threads = 0;                    ///< 0: all that the thread pool has
  ThreadPool* thread_pool = nullptr;  ///< that the run acquires; null: the process's, which is not acquired
  const StopToken* token = nullptr;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  /// Of random nodes: runs with equal seeds give equal results. None: each run draws new numbers.
  std::optional<uint64_t> seed = {};
  RandomScope random = {};  ///< set from `seed` by the context, and by loops in their iterations
  /// For finding errors: every buffer that kernels write is surrounded by bytes that are checked after each step, and holds NaN until it
  /// is written. A write outside is an error (internal) that names step and buffer. Costs memory and time.
  bool check_memory = false;
  /// Called after each step with its number and its start and end (profiling). Joined steps are reported one after the other when all are
  /// done, each with its share of their common time. Null costs nothing.
  std::function<void(uint32_t step, std::chrono::steady_clock::time_point, std::chrono::steady_clock::time_point)> on_step;
  /// Called, within a step, where an operand or a result of a device's segment is copied, with its bytes: by the run, or by a device that
  /// copies. Null costs nothing.
  std::function<void(uint64_t bytes)> on_copy;
  void copied(int64_t bytes) const {
    if (on_copy) on_copy(static_cast<uint64_t>(bytes));
  }
};

}  // namespace tenon::runtime
