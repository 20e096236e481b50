// SPDX-License-Identifier: Apache-2.0
#include "base/threads/thread_pool.h"

#include <immintrin.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <system_error>
#include <thread>
#include <vector>

#include "base/checked.h"
#include "base/result.h"

namespace tenon::inline base {
namespace {

constexpr auto kSpin = std::chrono::microseconds(50);

/// Spins on `done` for at most kSpin; false where it did not become true.
template <class Done>
bool spin(Done done) {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 64; ++i) {
      if (done()) return true;
      _mm_pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

class FlushDenormals {
 public:
  FlushDenormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040); }
  ~FlushDenormals() { _mm_setcsr((_mm_getcsr() & 0x3f) | (before_ & ~0x3fu)); }  // exception flags raised inside stay
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  unsigned before_;
};

/// In up to 16 pieces, so that a body that looks at a deadline when it is called sees it in time.
void run_alone(int64_t tasks, int64_t grain, const ThreadPool::Body& body) {
  const FlushDenormals flush;
  const int64_t step = round_up(ceil_div(tasks, 16), grain);
  for (int64_t begin = 0; begin < tasks; begin += step) body(begin, std::min(begin + step, tasks), 0);
}

enum Phase : uint32_t { idle, posted, running, stop };

/// Chunks of several tasks, a thread, up to which a share goes in one piece: a chunk is about a microsecond of work, and to take some of
/// these piece by piece costs more than it evens out. (A task that is a chunk may take any time.)
constexpr int64_t kWholeChunks = 16;

/// Neighbouring tasks that are a thread's own: from region to region it gets the same part, and finds what it wrote in its caches. It takes
/// them in pieces, of about half of what is left each (guided self-scheduling, Polychronopoulos and Kuck, 1987), down to chunks; who has
/// nothing else left takes pieces of others.
struct TaskRange {
  std::atomic<uint32_t> next{0};  ///< number of a piece
  bool whole = false;             ///< one piece
  int64_t begin = 0, end = 0, chunk = 1;

  void deal(int64_t first, int64_t last, int64_t least, bool in_one) {
    begin = first;
    end = last;
    chunk = least;
    whole = in_one;
    next.store(0, std::memory_order_relaxed);
  }
  /// The first task of piece `number`; `end` for the number after the last piece.
  int64_t start_of(uint32_t number) const {
    if (number == 0) return begin;
    if (whole || number >= 63) return end;
    return end - ((end - begin) >> number) / chunk * chunk;
  }
  /// An empty range where all pieces are taken; pieces in between may be empty too.
  bool take(int64_t& from, int64_t& to) {
    const uint32_t number = next.fetch_add(1, std::memory_order_relaxed);
    from = start_of(number);
    to = start_of(number + 1);
    return from < end;
  }
  bool is_taken() const { return start_of(next.load(std::memory_order_relaxed)) >= end; }
};

constexpr auto kNothing = [](int64_t, int64_t, int) {};

/// A thread's mailbox with the parameters of a region: one cache line, which crosses to its core when the region starts and back when
/// it ends. What is not the phase is written before `posted` and stays until all are `idle`. Phases that other threads read are stored
/// sequentially consistent: libstdc++'s notify_one looks for sleepers first, and a processor may look before a release store is seen; then
/// who has just gone to sleep is never woken.
struct alignas(64) Slot {
  std::atomic<uint32_t> phase{idle};  ///< the caller's stays idle
  int members = 0;
  ThreadPool::Body body = kNothing;
  TaskRange range;
};
static_assert(sizeof(Slot) == 64);

}  // namespace

struct ThreadPool::State {
  State(int count, const CpuSet& set) : threads(count), cpus(set), slots(static_cast<size_t>(count)) {}

  const int threads;
  const CpuSet& cpus;       ///< of the workers
  std::vector<Slot> slots;  ///< the caller's first
  std::vector<std::thread> workers;
  alignas(64) std::atomic<bool> busy{false};  ///< not on the line of what workers read

  void start_workers();
  void work(int thread);
  void take_part(int thread);
  void deal(int64_t tasks, int64_t chunk, int members, bool several, const Body& body);
  bool finish(int members);
};

/// Runs the thread's own share of the tasks first, then steals from others. Shares of a single piece are not stolen from: their thread has
/// taken the piece already.
void ThreadPool::State::take_part(int thread) {
  const FlushDenormals flush;
  const Slot& own = slots[static_cast<size_t>(thread)];
  for (int k = 0; k < own.members; ++k) {
    const int owner = (thread + k) % own.members;
    if (own.range.whole && owner == 0 && k > 0) continue;
    TaskRange& range = slots[static_cast<size_t>(owner)].range;
    int64_t from = 0, to = 0;
    while (!range.is_taken() && range.take(from, to))
      if (from < to) own.body(from, to, thread);
  }
}

void ThreadPool::State::work(int thread) {
  if (!cpus.empty()) cpus.bind_thread();
  std::atomic<uint32_t>& phase = slots[static_cast<size_t>(thread)].phase;
  for (;;) {
    if (!spin([&] { return phase.load(std::memory_order_relaxed) != idle; })) phase.wait(idle, std::memory_order_relaxed);
    uint32_t expected = posted;
    if (phase.compare_exchange_strong(expected, running, std::memory_order_acquire)) {
      take_part(thread);
      phase.store(idle);
      phase.notify_one();
    } else if (expected == stop) {
      return;
    }
  }
}

void ThreadPool::State::start_workers() {
  workers.reserve(static_cast<size_t>(threads) - 1);
  try {
    for (int t = 1; t < threads; ++t) workers.emplace_back([this, t] { work(t); });
  } catch (const std::system_error&) {
    // The system has no more threads: what is posted to those that are missing, finish() takes back.
  }
}

void ThreadPool::State::deal(int64_t tasks, int64_t chunk, int members, bool several, const Body& body) {
  const bool whole = several && ceil_div(tasks, chunk) <= kWholeChunks * members;
  for (int64_t t = 0; t < members; ++t) {
    Slot& slot = slots[static_cast<size_t>(t)];
    slot.members = members;
    slot.body = body;
    slot.range.deal(tasks * t / members, tasks * (t + 1) / members, chunk, whole);
  }
}

/// Takes back what no worker has begun, and waits for those that have; false where some did not come. An exchange that fails brings the
/// line too, to this core alone: a worker's `idle` then travels faster than where both cores hold the line.
bool ThreadPool::State::finish(int members) {
  bool all = true;
  for (int t = 1; t < members; ++t) {
    std::atomic<uint32_t>& phase = slots[static_cast<size_t>(t)].phase;
    uint32_t expected = posted;
    if (phase.compare_exchange_strong(expected, idle, std::memory_order_acquire)) {
      all = false;
      continue;
    }
    if (spin([&] { return phase.load(std::memory_order_acquire) == idle; })) continue;
    for (uint32_t now = phase.load(std::memory_order_acquire); now != idle; now = phase.load(std::memory_order_acquire)) {
      phase.wait(now, std::memory_order_acquire);
    }
  }
  return all;
}

ThreadPool::ThreadPool(int threads, CpuSet cpus) : owner_(getpid()), cpus_(std::move(cpus)) {
  state_ = std::make_unique<State>(std::clamp(threads, 1, kMaxThreads), cpus_);
}

ThreadPool::~ThreadPool() {
  if (getpid() != owner_) {
    // In a forked child the workers do not exist; their handles must be neither joined nor destroyed.
    (void)state_.release();
    return;
  }
  for (size_t t = 1; t <= state_->workers.size(); ++t) {
    state_->slots[t].phase.store(stop);
    state_->slots[t].phase.notify_one();
  }
  for (std::thread& worker : state_->workers) worker.join();
}

int ThreadPool::size() const { return state_->threads; }

void ThreadPool::run(int64_t tasks, int64_t grain, Body body, int max_threads) {
  if (tasks <= 0) return;
  TENON_ASSERT(tasks < int64_t{1} << 60);
  grain = std::clamp<int64_t>(grain, 1, tasks);
  const bool several = grain > 1;
  State& s = *state_;
  const int others = callers_.load(std::memory_order_relaxed) - 1;
  int64_t used = others > 0 ? std::max(1, s.threads - others) : s.threads;
  if (max_threads > 0) used = std::min<int64_t>(used, max_threads);
  used = std::min(used, ceil_div(tasks, grain));
  // The same number of chunks for each: two chunks of 9 and 3 tasks would keep one thread waiting.
  grain = ceil_div(tasks, ceil_div(tasks, grain) / used * used);
  const int members = static_cast<int>(used);
  if (members == 1 || s.busy.exchange(true, std::memory_order_acquire)) return run_alone(tasks, grain, body);
  if (s.workers.empty() && getpid() == owner_) s.start_workers();
  s.deal(tasks, grain, members, several, body);
  for (int t = 1; t < members; ++t) {
    s.slots[static_cast<size_t>(t)].phase.store(posted);
    s.slots[static_cast<size_t>(t)].phase.notify_one();
  }
  s.take_part(0);
  // A forked child has no workers: there the thread pool stays busy, and all that comes runs alone.
  if (s.finish(members) || getpid() == owner_) s.busy.store(false, std::memory_order_release);
}

static std::atomic<int> default_size{0};  // 0: usable_cpus()

void size_default_thread_pool(int threads) { default_size = threads; }

ThreadPool& default_thread_pool() {
  static ThreadPool& pool = *new ThreadPool(default_size > 0 ? default_size.load() : usable_cpus());
  return pool;
}

}  // namespace tenon::inline base
