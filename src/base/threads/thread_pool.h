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

  /// cpus: where the workers run; none: wherever the system puts them.
  explicit ThreadPool(int threads, CpuSet cpus = {});
  /// threads: none for one on each of the CPUs, and where none are named one for each that this process may use.
  /// Errors: bad_usage (no thread, too many of them, CPUs that are not there), not_supported.
  static Result<std::shared_ptr<ThreadPool>> create(std::optional<int> threads, std::span<const int> cpus);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const;
  const CpuSet& cpus() const { return cpus_; }

  class Lease;
  /// The thread pool for as long as the lease lives: other callers wait, in the order in which they came. The calling thread is
  /// kept to the thread pool's CPUs meanwhile. A thread that has a lease gets another at once; so does a forked child. Errors: that of
  /// `go_on`, which is called about every millisecond of waiting (null: waits however long); device_failed where the thread pool's CPUs are
  /// gone. Cost: below 1 us, with CPUs some microseconds; no allocation.
  Result<Lease> acquire(const QueuedLock::GoOn* go_on = nullptr);

  /// One that calls run() again and again on its own thread. While there are several, a region takes a thread less for each of the
  /// others, which compute too: together they are as many as the thread pool, and none takes another's CPU.
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
  /// done. Each thread has neighbouring tasks of its own, which it takes in ever smaller pieces, down to about `grain`; who is done takes
  /// pieces of others, so a worker that wakes late loses its share to them. `thread` is below min(max_threads, size()) and at no time used
  /// by two calls of `body` at once. `body` does not throw. Denormals are flushed (FTZ, DAZ) inside, and what was set before holds again
  /// after. A call while a region runs on the thread pool, be it from inside its body or from another thread, or in a forked child, runs on
  /// the calling thread alone. From inside a body that itself runs alone a call may get the thread pool. Cost: 1-2 us where workers are
  /// awake, 30-60 us where they sleep; no allocation.
  void run(int64_t tasks, int64_t grain, Body body, int max_threads = 0);

 private:
  struct State;
  void release();

  static constexpr int kMost = 1024;
  const int owner_;  ///< the process that made it
  CpuSet cpus_;
  QueuedLock lease_lock_;
  std::atomic<std::thread::id> holder_;  ///< which side owns it
  CpuSet before_;                        ///< where the holder ran
  bool bound_ = false;                   ///< the holder was moved
  std::atomic<int> callers_{0};
  std::unique_ptr<State> state_;  ///< last: its threads read what is above
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
  ThreadPool* pool_;  ///< null: nothing to end
};

/// The process's thread pool, of usable_cpus() threads. Never destroyed.
ThreadPool& default_thread_pool();
/// Before the first call of default_thread_pool(): how many threads it has.
void size_default_thread_pool(int threads);

/// CPUs that this process may use: its affinity mask, cut to the CPU quota (rounded up) of its cgroup, version 1 or 2. At least 1.
int usable_cpus();

}  // namespace tenon::inline base
