// SPDX-License-Identifier: Apache-2.0
#include "base/threads/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "programs.h"

namespace tenon::tests {
namespace {

using namespace runtime;
using namespace std::chrono_literals;

constexpr int64_t kTasks = 32;

/// Elements of `call`: the function, then whose run it is, 0 or 1.
std::vector<Tensor> calls_of(void (*function)(const KernelArgs*, int64_t, int64_t), int64_t whose) {
  std::vector<int64_t> calls(kTasks, whose);
  calls[0] = reinterpret_cast<int64_t>(function);
  return {Tensor::of_i64({kTasks}, calls)};
}

int64_t whose(const KernelArgs* args) { return static_cast<const int64_t*>(args->buffers[0])[1]; }

void mark(const KernelArgs* args, int64_t begin, int64_t end) {
  for (int64_t k = begin; k < end; ++k) static_cast<int64_t*>(args->buffers[1])[k] = k + 1;
}

bool all_marked(const Tensor& t) {
  for (int64_t k = 0; k < kTasks; ++k)
    if (t.integer(k) != k + 1) return false;
  return true;
}

RunOptions on(const std::shared_ptr<ThreadPool>& thread_pool) {
  RunOptions options;
  options.thread_pool = thread_pool.get();
  return options;
}

std::atomic<int> inside[2];
std::atomic<bool> met{false}, overlapped{false}, may_end{true};

/// Waits until the other run is inside as well.
void meet(const KernelArgs* args, int64_t begin, int64_t end) {
  const auto me = static_cast<size_t>(whose(args));
  ++inside[me];
  for (const auto give_up = std::chrono::steady_clock::now() + 10s; !met && std::chrono::steady_clock::now() < give_up;)
    if (inside[1 - me] > 0) met = true;
  mark(args, begin, end);
}

void be_alone(const KernelArgs* args, int64_t begin, int64_t end) {
  const auto me = static_cast<size_t>(whose(args));
  ++inside[me];
  if (inside[1 - me] > 0) overlapped = true;
  std::this_thread::sleep_for(100us);
  if (inside[1 - me] > 0) overlapped = true;
  --inside[me];
  mark(args, begin, end);
}

void wait_for_end(const KernelArgs* args, int64_t begin, int64_t end) {
  ++inside[0];
  while (!may_end) std::this_thread::yield();
  mark(args, begin, end);
}

/// Waits until `crowd` threads are inside at once.
int crowd = 0;
void gather(const KernelArgs* args, int64_t begin, int64_t end) {
  ++inside[0];
  for (const auto give_up = std::chrono::steady_clock::now() + 10s; !met && std::chrono::steady_clock::now() < give_up;)
    if (inside[0] == crowd) met = true;
  --inside[0];
  mark(args, begin, end);
}

struct ThreadPools : testing::Test {
  std::unique_ptr<Context> contexts[2] = {calling_back(), calling_back()};
  std::shared_ptr<ThreadPool> thread_pools[2] = {*ThreadPool::create(2, {}), *ThreadPool::create(2, {})};
  ThreadPools() {
    inside[0] = inside[1] = 0;
    met = overlapped = false;
    may_end = true;
  }
  /// Both contexts at once, `times` each. Context k on thread pool thread_pool_of[k].
  void run_both(void (*function)(const KernelArgs*, int64_t, int64_t), int times, std::array<size_t, 2> thread_pool_of) {
    std::vector<std::thread> threads;
    for (size_t k = 0; k < 2; ++k)
      threads.emplace_back([=, this] {
        for (int time = 0; time < times; ++time) {
          auto got = contexts[k]->run(calls_of(function, static_cast<int64_t>(k)), on(thread_pools[thread_pool_of[k]]));
          EXPECT_TRUE(got && all_marked((*got)[0]));
        }
      });
    for (std::thread& t : threads) t.join();
  }
};

TEST_F(ThreadPools, TwoOfThemRunSideBySide) {
  run_both(&meet, 1, {0, 1});
  EXPECT_TRUE(met);
}

TEST_F(ThreadPools, OnOneRunsTakeTurns) {
  run_both(&be_alone, 20, {0, 0});
  EXPECT_FALSE(overlapped);
}

TEST_F(ThreadPools, OneHasItsOwnNumberOfThreads) {
  crowd = std::min(usable_cpus() + 1, static_cast<int>(kTasks));
  auto got = contexts[0]->run(calls_of(&gather, 0), on(*ThreadPool::create(crowd, {})));
  EXPECT_TRUE(got && all_marked((*got)[0]));
  EXPECT_TRUE(met);
}

TEST_F(ThreadPools, UseNoMoreThreadsThanRequested) {
  for (const int threads : {1, 2, 3}) {
    RunOptions options = on(thread_pools[0]);
    options.threads = threads;
    auto got = contexts[0]->run(calls_of(&mark, 0), options);
    EXPECT_TRUE(got && all_marked((*got)[0])) << threads;
  }
}

/// A run that holds thread pool 0 until it is let go.
struct BusyPool : ThreadPools {
  std::thread holder;
  BusyPool() {
    may_end = false;
    holder = std::thread([this] {
      auto got = contexts[0]->run(calls_of(&wait_for_end, 0), on(thread_pools[0]));
      EXPECT_TRUE(got && all_marked((*got)[0]));
    });
    while (inside[0] == 0) std::this_thread::yield();
  }
  ~BusyPool() override {
    may_end = true;
    holder.join();
  }
};

TEST_F(BusyPool, ARunThatWaitsCanBeCancelled) {
  StopToken token;
  RunOptions options = on(thread_pools[0]);
  options.token = &token;
  std::thread stopper([&] {
    std::this_thread::sleep_for(5ms);
    token.stop = true;
  });
  auto got = contexts[1]->run(calls_of(&mark, 1), options);
  stopper.join();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), Code::cancelled);
  EXPECT_EQ(got.error()->place, "the thread pool's queue");
}

TEST_F(BusyPool, ARunThatWaitsEndsAtItsDeadline) {
  RunOptions options = on(thread_pools[0]);
  options.deadline = std::chrono::steady_clock::now() + 5ms;
  auto got = contexts[1]->run(calls_of(&mark, 1), options);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), Code::deadline);
}

TEST_F(BusyPool, AnotherTeamAndTheProcessesOwnDoNotWait) {
  for (ThreadPool* thread_pool : {thread_pools[1].get(), static_cast<ThreadPool*>(nullptr)}) {
    RunOptions options;
    options.thread_pool = thread_pool;
    auto got = contexts[1]->run(calls_of(&mark, 1), options);
    EXPECT_TRUE(got && all_marked((*got)[0]));
  }
}

TEST_F(ThreadPools, CancellingOnOneDoesNotTouchTheOther) {
  StopToken token;
  RunOptions options = on(thread_pools[0]);
  options.token = &token;
  token.stop = true;
  std::atomic<bool> done{false};
  std::thread cancelled([&] {
    while (!done) EXPECT_EQ(contexts[0]->run(calls_of(&mark, 0), options).error().code(), Code::cancelled);
  });
  for (int time = 0; time < 200; ++time) {
    auto got = contexts[1]->run(calls_of(&mark, 1), on(thread_pools[static_cast<size_t>(time % 2)]));
    EXPECT_TRUE(got && all_marked((*got)[0]));
  }
  done = true;
  cancelled.join();
}

}  // namespace
}  // namespace tenon::tests
