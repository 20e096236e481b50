// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "base/threads/thread_pool.h"

namespace tenon {
namespace {

Diagnostic refused(std::optional<int> threads, std::vector<int> cpus) {
  auto made = ThreadPool::create(threads, cpus);
  EXPECT_FALSE(made);
  return made ? Diagnostic{} : *made.error();
}

TEST(ThreadPoolCreate, RefusesNoThreadsAndCpusThatAreNotThere) {
  EXPECT_EQ(refused(0, {}).code, Code::bad_usage);
  EXPECT_EQ(refused(-3, {}).found, "-3");
  EXPECT_EQ(refused(1025, {}).expected, "1 to 1024");
  const int first = CpuSet::of_thread()->numbers().front();
  for (const int wrong : {-1, 4095, 1 << 20, INT_MAX, INT_MIN}) {
    const Diagnostic d = refused(1, {first, wrong});
    EXPECT_EQ(d.place, "cpus");
    EXPECT_EQ(d.found, std::to_string(wrong));
  }
  EXPECT_EQ(refused({}, {first, first}).what, "a CPU appears twice");
}

TEST(ThreadPoolCreate, HasAThreadForEachCpuWhereNoNumberIsGiven) {
  const std::vector<int> cpus = CpuSet::of_thread()->numbers();
  EXPECT_EQ((*ThreadPool::create({}, cpus))->size(), static_cast<int>(cpus.size()));
  EXPECT_EQ((*ThreadPool::create({}, {}))->size(), usable_cpus());
  EXPECT_EQ((*ThreadPool::create(3, {}))->size(), 3);
}

TEST(ThreadPoolCreate, LooksBeyondWhatTheThreadIsKeptTo) {
  const CpuSet before = *CpuSet::of_thread();
  const std::vector<int> cpus = before.numbers();
  if (cpus.size() < 2) GTEST_SKIP() << "needs a CPU with two cores";
  ASSERT_TRUE(CpuSet::of({cpus.data(), 1})->bind_thread());
  const auto other = ThreadPool::create({}, std::span(cpus).subspan(1, 1));
  EXPECT_TRUE(other) << other.error().text();
  EXPECT_EQ(CpuSet::of_thread()->numbers(), std::vector<int>{cpus[0]});
  before.bind_thread();
}

TEST(ThreadPoolLease, KeepsEveryThreadToTheCpus) {
  const CpuSet before = *CpuSet::of_thread();
  const int last = before.numbers().back();
  const auto thread_pool = *ThreadPool::create(3, std::vector{last});
  const auto look = [&] {
    thread_pool->run(300, 1, [&](int64_t, int64_t, int) { EXPECT_EQ(CpuSet::of_thread()->numbers(), std::vector<int>{last}); });
  };
  for (int k = 0; k < 3; ++k) {
    const auto turn = *thread_pool->acquire();
    look();
    const auto again = *thread_pool->acquire();
    look();
  }
  EXPECT_EQ(*CpuSet::of_thread(), before);
}

TEST(ThreadPoolLease, WorkersAreKeptToTheCpusWithoutOne) {
  const int last = CpuSet::of_thread()->numbers().back();
  const auto thread_pool = *ThreadPool::create(3, std::vector{last});
  thread_pool->run(300, 1, [&](int64_t, int64_t, int thread) {
    if (thread > 0) EXPECT_EQ(CpuSet::of_thread()->numbers(), std::vector<int>{last});
    else std::this_thread::sleep_for(std::chrono::microseconds(50));  // leaves work to the others
  });
}

/// Threads that ask for a turn one after the other while this one has it.
struct Queue {
  ThreadPool thread_pool{2};
  std::optional<ThreadPool::Lease> mine;
  std::atomic<int> asked{0}, granted{0};
  std::atomic<bool> give_up[4] = {};
  std::vector<int> order;  // written by which side owns it
  std::vector<std::thread> threads;

  explicit Queue(bool watched) {
    mine.emplace(*thread_pool.acquire());
    for (int k = 0; k < 3; ++k) come(k, watched);
  }
  void come(int k, bool watched) {
    threads.emplace_back([this, k, watched] { ask(k, watched); });
    while (asked <= k) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // from there into the queue
  }
  void ask(int k, bool watched) {
    const auto look = [&]() -> Result<void> {
      if (give_up[k]) return fail(Code::cancelled, "", "given up");
      return {};
    };
    const QueuedLock::WaitCheck check(look);
    ++asked;
    const auto turn = thread_pool.acquire(watched ? &check : nullptr);
    if (!turn) return;
    EXPECT_EQ(++granted, 1);
    order.push_back(k);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    --granted;
  }
  void finish() {
    EXPECT_TRUE(order.empty());
    mine.reset();
    for (std::thread& t : threads) t.join();
  }
};

TEST(ThreadPoolLease, IsGrantedInOrderOfRequests) {
  for (const bool watched : {false, true}) {
    Queue queue(watched);
    queue.finish();
    EXPECT_EQ(queue.order, (std::vector{0, 1, 2}));
  }
}

TEST(ThreadPoolLease, SkipsCancelledWaiters) {
  for (int leaver = 0; leaver < 3; ++leaver) {
    Queue queue(true);
    queue.give_up[leaver] = true;
    queue.threads[static_cast<size_t>(leaver)].join();
    queue.threads.erase(queue.threads.begin() + leaver);
    queue.come(3, true);
    queue.finish();
    std::vector expected{0, 1, 2, 3};
    expected.erase(expected.begin() + leaver);
    EXPECT_EQ(queue.order, expected);
  }
}

TEST(ThreadPoolLease, OfAForkedChildComesAtOnce) {
  ThreadPool thread_pool(2);
  std::optional<ThreadPool::Lease> mine(*thread_pool.acquire());
  std::thread([&] {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      _exit(thread_pool.acquire() ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }).join();
}

}  // namespace
}  // namespace tenon
