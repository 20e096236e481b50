// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "base/threads.h"

namespace tenon::inline base {

Result<std::shared_ptr<Team>> Team::create(std::optional<int> threads, std::span<const int> cpus) {
  CpuSet set = cpus.empty() ? CpuSet() : TRY(CpuSet::of(cpus));
  const int count = threads ? *threads : set.empty() ? usable_cpus() : set.count();
  if (count < 1 || count > kMost)
    return fail(Code::bad_usage, "threads", count < 1 ? "a team has at least one thread, the calling one" : "a team has fewer threads")
        .expected("1 to " + std::to_string(kMost))
        .found(std::to_string(count))
        .advice("as many as there are CPUs are best; name none for that");
  return std::make_shared<Team>(count, std::move(set));
}

Result<Team::Turn> Team::take_turn(const QueuedLock::GoOn* go_on) {
  const std::thread::id self = std::this_thread::get_id();
  if (getpid() != owner_ || holder_.load(std::memory_order_relaxed) == self) return Turn(nullptr);
  TRY(turns_.lock(go_on));
  holder_.store(self, std::memory_order_relaxed);
  Turn turn(this);
  if (cpus_.empty() || (before_.read_thread() && before_ == cpus_)) return turn;
  bound_ = cpus_.bind_thread();
  if (bound_) return turn;
  return fail(Code::device_failed, "team", "the CPUs of the team are gone")
      .expected(cpus_.text())
      .found(before_.text())
      .advice("make another team");
}

void Team::end_turn() {
  if (std::exchange(bound_, false)) before_.bind_thread();
  holder_.store({}, std::memory_order_relaxed);
  turns_.unlock();
}

}  // namespace tenon::inline base
