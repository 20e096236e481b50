// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "base/threads/thread_pool.h"

namespace tenon::inline base {

Result<std::shared_ptr<ThreadPool>> ThreadPool::create(std::optional<int> threads, std::span<const int> cpus) {
  CpuSet set = cpus.empty() ? CpuSet() : TRY(CpuSet::of(cpus));
  const int count = threads ? *threads : set.empty() ? usable_cpus() : set.count();
  if (count < 1 || count > kMaxThreads)
    return fail(Code::bad_usage, "threads",
                count < 1 ? "a thread pool has at least one thread, the calling one" : "a thread pool has fewer threads")
        .expected("1 to " + std::to_string(kMaxThreads))
        .found(std::to_string(count))
        .advice("as many as there are CPUs are best; name none for that");
  return std::make_shared<ThreadPool>(count, std::move(set));
}

Result<ThreadPool::Lease> ThreadPool::acquire(const QueuedLock::WaitCheck* check) {
  const std::thread::id self = std::this_thread::get_id();
  if (getpid() != owner_ || holder_.load(std::memory_order_relaxed) == self) return Lease(nullptr);
  TRY(lease_lock_.lock(check));
  holder_.store(self, std::memory_order_relaxed);
  Lease lease(this);
  if (cpus_.empty() || (previous_affinity_.read_thread_affinity() && previous_affinity_ == cpus_)) return lease;
  affinity_changed_ = cpus_.bind_thread();
  if (affinity_changed_) return lease;
  return fail(Code::device_failed, "thread pool", "the CPUs of the thread pool are gone")
      .expected(cpus_.text())
      .found(previous_affinity_.text())
      .advice("make another thread pool");
}

void ThreadPool::release() {
  if (std::exchange(affinity_changed_, false)) previous_affinity_.bind_thread();
  holder_.store({}, std::memory_order_relaxed);
  lease_lock_.unlock();
}

}  // namespace tenon::inline base
