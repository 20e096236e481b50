// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "base/function_ref.h"
#include "base/result.h"
#include "base/threads/cpu_set.h"
#include "base/threads/queued_lock.h"

namespace tenon::inline base {

/// A fork-join thread pool: the calling thread and size() - 1 workers. Workers spin for about 50 us after a parallel region and then sleep
/// on a futex; an idle thread pool takes no CPU time. They are started by the first region that needs them.
class ThreadPool {
 public:
  using Body = FunctionRef<void(int64_t begin, int64_t end, int thread)>;

  /// cpus: that the workers are bound to; empty: they are not bound.
  explicit ThreadPool(int threads, CpuSet cpus = {});
  /// threads: default: one for each of `cpus`, or, where that is empty, for each CPU that this process may use.
  /// Errors: bad_usage (no thread, too many threads, CPUs that this process may not use), not_supported.
  static Result<std::shared_ptr<ThreadPool>> create(std::optional<int> threads, std::span<const int> cpus);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const;
  const CpuSet& cpus() const { return cpus_; }

  class Lease;
  /// Exclusive use of the thread pool until the lease is destroyed. Other callers wait in a queue. The calling thread is bound to the
  /// CPUs of the thread pool meanwhile. A thread that has a lease gets another one at once; so does a forked child. check: see
  /// QueuedLock::lock. Errors: that of `check`; device_failed where the CPUs of the thread pool are not available any more. Cost: below 1
  /// us, with CPUs some microseconds; no allocation.
  Result<Lease> acquire(const QueuedLock::WaitCheck* check = nullptr);

  /// Registers a thread that calls run() repeatedly without a lease. Where several are registered, a parallel region uses one thread less
  /// for each of the others, so that together they use no more threads than the thread pool has.
  class Caller {
   public:
    explicit Caller(ThreadPool& thread_pool) : pool_(thread_pool) { pool_.callers_.fetch_add(1, std::memory_order_relaxed); }
    ~Caller() { pool_.callers_.fetch_sub(1, std::memory_order_relaxed); }
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;

   private:
    ThreadPool& pool_;
  };

  /// Calls `body` on disjoint ranges that cover [0, tasks), on up to `max_threads` threads (0: all), and returns when all are
  /// done. Each thread starts with a contiguous range of tasks, which it takes in pieces that shrink to about `grain`; a thread that is
  /// done steals pieces of other threads. `thread` is below min(max_threads, size()) and at no time used by two calls of `body` at once.
  /// `body` does not throw. Denormals are flushed (FTZ, DAZ) inside; the mode is restored afterwards. A call while a region runs on the
  /// thread pool, be it from inside its body or from another thread, or in a forked child, runs on the calling thread alone. From inside a
  /// body that itself runs alone a call may get the thread pool. Cost: 1-2 us where workers are awake, 30-60 us where they sleep; no
  /// allocation.
  void run(int64_t tasks, int64_t grain, Body body, int max_threads = 0);

 private:
  struct State;
  void release();

  static constexpr int kMaxThreads = 1024;
  const int owner_;  ///< the process that made it
  CpuSet cpus_;
  QueuedLock lease_lock_;
  std::atomic<std::thread::id> holder_;  ///< the thread that has the lease
  CpuSet previous_affinity_;             ///< of the holder, before the lease
  bool affinity_changed_ = false;        ///< the lease bound the holder to cpus_
  std::atomic<int> callers_{0};
  std::unique_ptr<State> state_;  ///< last member: the workers read the others
};

class ThreadPool::Lease {
 public:
  explicit Lease(ThreadPool* thread_pool) : pool_(thread_pool) {}
  Lease(Lease&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)) {}
  Lease& operator=(Lease&&) = delete;
  ~Lease() {
    if (pool_ != nullptr) pool_->release();
  }

 private:
  ThreadPool* pool_;  ///< null: there is nothing to release
};

/// The process's thread pool, of usable_cpus() threads. Never destroyed.
ThreadPool& default_thread_pool();
/// Sets how many threads default_thread_pool() has; only before its first call.
void size_default_thread_pool(int threads);

/// CPUs that this process may use: its affinity mask, cut to the CPU quota (rounded up) of its cgroup, version 1 or 2. At least 1.
int usable_cpus();

}  // namespace tenon::inline base
