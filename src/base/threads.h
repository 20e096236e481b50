// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>

#include "base/function_ref.h"

namespace tenon::inline base {

/// A fork-join team: the calling thread and size() - 1 workers. Workers spin for about 50 us after a region and then sleep on a
/// futex; an idle team takes no CPU time. They are started by the first region that needs them.
class Team {
 public:
  using Body = FunctionRef<void(int64_t begin, int64_t end, int thread)>;

  explicit Team(int threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const;

  /// Calls `body` on disjoint ranges that cover [0, tasks), on up to `max_threads` threads (0: all), and returns when all are
  /// done. Half of the tasks are dealt out in advance, the rest is taken in chunks of `grain`; a worker that wakes late loses
  /// its share to the others. `thread` is below min(max_threads, size()) and at no time used by two calls of `body` at once.
  /// `body` does not throw. Denormals are flushed (FTZ, DAZ) inside, and what was set before holds again after.
  /// A call from inside a body, or while another thread has the team, or in a forked child, runs on the calling thread alone.
  /// Cost: 1-2 us where workers are awake, 30-60 us where they sleep; no allocation.
  void run(int64_t tasks, int64_t grain, Body body, int max_threads = 0);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The process's team, of usable_cpus() threads. Never destroyed.
Team& default_team();
/// Before the first call of default_team(): how many threads it has.
void size_default_team(int threads);

/// CPUs that this process may use: its affinity mask, cut to the CPU quota (rounded up) of its cgroup, version 1 or 2. At least 1.
int usable_cpus();

}  // namespace tenon::inline base
