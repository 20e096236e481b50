// SPDX-License-Identifier: Apache-2.0
#include "base/threads/thread_pool.h"

#include <gtest/gtest.h>
#include <immintrin.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace tenon {
namespace {

TEST(ThreadPool, CoversEachTaskOnce) {
  ThreadPool thread_pool(4);
  for (int64_t tasks : {0, 1, 2, 3, 7, 64, 1000}) {
    for (int64_t grain : {1, 3, 100}) {
      for (int most : {0, 1, 2, 9}) {
        std::vector<std::atomic<int>> seen(static_cast<size_t>(tasks));
        thread_pool.run(
            tasks, grain,
            [&](int64_t begin, int64_t end, int thread) {
              EXPECT_LT(thread, most == 0 ? 4 : std::min(most, 4));
              for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
            },
            most);
        for (const auto& count : seen) ASSERT_EQ(count, 1) << tasks << " tasks by " << grain;
      }
    }
  }
}

TEST(ThreadPool, DealsFewTasksEvenly) {
  ThreadPool thread_pool(2);
  for (const auto& [tasks, grain, most] : {std::array<int64_t, 3>{12, 9, 6}, {20, 9, 10}, {7, 3, 4}, {5, 5, 5}, {2, 1, 1}}) {
    std::atomic<int64_t> longest = 0;
    const auto body = [&](int64_t begin, int64_t end, int) {
      int64_t seen = longest;
      while (seen < end - begin && !longest.compare_exchange_weak(seen, end - begin)) {}
    };
    thread_pool.run(tasks, grain, body);
    EXPECT_LE(longest, most) << tasks << " in chunks of " << grain;
  }
}

TEST(ThreadPool, AThreadNumberIsNeverUsedTwiceAtOnce) {
  ThreadPool thread_pool(4);
  std::atomic<int> inside[4] = {};
  for (int round = 0; round < 300; ++round) {
    thread_pool.run(64, 1, [&](int64_t, int64_t, int thread) {
      EXPECT_EQ(inside[thread].fetch_add(1), 0);
      inside[thread].fetch_sub(1);
    });
  }
}

TEST(ThreadPool, LeavesACpuToEachOtherCaller) {
  ThreadPool thread_pool(2);
  const auto threads = [&] {
    std::atomic<int> highest = 0;
    const auto body = [&](int64_t, int64_t, int thread) {
      int seen = highest;
      while (seen < thread && !highest.compare_exchange_weak(seen, thread)) {}
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    };
    for (int turn = 0; turn < 20; ++turn) thread_pool.run(16, 1, body);
    return highest + 1;
  };
  const ThreadPool::Caller self(thread_pool);
  EXPECT_EQ(threads(), 2);
  {
    const ThreadPool::Caller other(thread_pool), third(thread_pool);
    EXPECT_EQ(threads(), 1);
  }
  EXPECT_EQ(threads(), 2);
}

TEST(ThreadPool, ACallInsideARegionRunsAlone) {
  ThreadPool thread_pool(3);
  std::atomic<int64_t> sum{0};
  for (int round = 0; round < 100; ++round) {
    thread_pool.run(8, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        thread_pool.run(10, 1, [&](int64_t b, int64_t e, int thread) {
          EXPECT_EQ(thread, 0);
          sum += e - b;
        });
      }
    });
  }
  EXPECT_EQ(sum, 100 * 8 * 10);
}

// A region that found the thread pool taken runs alone, so that what it nests may get the thread pool when the other region has ended.
TEST(ThreadPool, NestedAndConcurrentCallsFinish) {
  ThreadPool thread_pool(3);
  std::atomic<int64_t> sum{0};
  const auto outer = [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      std::atomic<int> inside[3] = {};
      thread_pool.run(10, 1, [&](int64_t b, int64_t e, int thread) {
        ASSERT_LT(thread, 3);
        EXPECT_EQ(inside[thread].fetch_add(1), 0);
        sum += e - b;
        inside[thread].fetch_sub(1);
      });
    }
  };
  std::vector<std::thread> hosts;
  for (int h = 0; h < 4; ++h)
    hosts.emplace_back([&] {
      for (int k = 0; k < 20; ++k) thread_pool.run(8, 1, outer);
    });
  for (auto& host : hosts) host.join();
  EXPECT_EQ(sum, 4 * 20 * 8 * 10);
}

TEST(ThreadPool, FlushesDenormalsInsideOnly) {
  ThreadPool thread_pool(2);
  const unsigned before = _mm_getcsr();
  for (int most : {1, 2}) {
    thread_pool.run(100, 1, [](int64_t, int64_t, int) { EXPECT_EQ(_mm_getcsr() & 0x8040, 0x8040u); }, most);
    EXPECT_EQ(_mm_getcsr() & ~0x3fu, before & ~0x3fu);
  }
}

TEST(ThreadPool, AnIdleTeamTakesNoTime) {
  ThreadPool thread_pool(4);
  thread_pool.run(100, 1, [](int64_t, int64_t, int) {});
  const auto cpu_us = [] {
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    return (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000000 + use.ru_utime.tv_usec + use.ru_stime.tv_usec;
  };
  const auto start = cpu_us();
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_LT(cpu_us() - start, 10000);
}

TEST(ThreadPool, AForkedChildStillRuns) {
  ThreadPool& thread_pool = default_thread_pool();
  std::atomic<int64_t> sum{0};
  const auto body = [&](int64_t begin, int64_t end, int) { sum += end - begin; };
  thread_pool.run(1000, 1, body);
  const pid_t child = fork();
  if (child == 0) {
    sum = 0;
    for (int k = 0; k < 3; ++k) thread_pool.run(1000, 1, body);
    _exit(sum == 3000 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(ThreadPool, TheDefaultFitsTheMachine) {
  EXPECT_GE(usable_cpus(), 1);
  EXPECT_LE(usable_cpus(), static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  EXPECT_EQ(default_thread_pool().size(), usable_cpus());
}

}  // namespace
}  // namespace tenon
