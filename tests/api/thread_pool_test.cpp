// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <tenon/tenon.h>

#include <thread>

namespace {

const std::string kModel = std::string(TENON_TEST_DATA) + "/../../examples/mlp.onnx";

struct ApiTeam : testing::Test {
  tenon::Engine engine = *tenon::compile(kModel);
  std::vector<float> x = std::vector<float>(size_t{7} * 16, 0.25F);
  tenon::Array input{{7, 16}, x};
  std::vector<float> expected = floats((*engine.run({&input, 1}))[0]);

  static std::vector<float> floats(const tenon::Array& a) { return {a.as<float>().begin(), a.as<float>().end()}; }
  void expect_answer(const tenon::RunOptions& options) {
    const auto got = engine.run({&input, 1}, options);
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ(floats((*got)[0]), expected);
  }
};

TEST_F(ApiTeam, ResultsAreTheSame) {
  for (const int threads : {1, 2, 5}) {
    const auto thread_pool = tenon::ThreadPool::create({.threads = threads});
    ASSERT_TRUE(thread_pool) << thread_pool.error().text();
    EXPECT_EQ(thread_pool->threads(), threads);
    EXPECT_TRUE(thread_pool->cpus().empty());
    expect_answer({.thread_pool = *thread_pool});
    expect_answer({.threads = 1, .thread_pool = *thread_pool});
  }
  expect_answer({.thread_pool = tenon::ThreadPool()});
  EXPECT_GE(tenon::ThreadPool().threads(), 1);
}

TEST_F(ApiTeam, IsRefusedWithoutThreadsOrOnCpusThatAreNotThere) {
  const auto none = tenon::ThreadPool::create({.threads = 0});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, tenon::Code::bad_usage);
  EXPECT_EQ(none.error().place, "threads");
  const auto nowhere = tenon::ThreadPool::create({.cpus = {9999}});
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().place, "cpus");
  EXPECT_EQ(nowhere.error().found, "9999");
}

TEST_F(ApiTeam, OutlivesContextsAndTheyOutliveIt) {
  auto thread_pool = std::make_unique<tenon::ThreadPool>(*tenon::ThreadPool::create({.threads = 2}));
  for (int k = 0; k < 3; ++k) {
    auto context = tenon::Context::create(engine);
    EXPECT_TRUE(context->run({&input, 1}, {.thread_pool = *thread_pool}));
  }
  auto context = tenon::Context::create(engine);
  const tenon::RunOptions options{.thread_pool = *thread_pool};
  EXPECT_TRUE(context->run({&input, 1}, options));
  thread_pool.reset();  // the options hold it
  EXPECT_TRUE(context->run({&input, 1}, options));
  {
    const tenon::RunOptions passing{.thread_pool = *tenon::ThreadPool::create({.threads = 3})};
    EXPECT_TRUE(context->run({&input, 1}, passing));
  }
  const auto results = context->run({&input, 1});
  ASSERT_TRUE(results);
  EXPECT_EQ(floats((*results)[0]), expected);
}

TEST_F(ApiTeam, IsSharedOrSplit) {
  const tenon::ThreadPool thread_pools[] = {*tenon::ThreadPool::create({.threads = 2}), *tenon::ThreadPool::create({.threads = 2})};
  std::vector<std::thread> threads;
  for (size_t k = 0; k < 4; ++k)
    threads.emplace_back([&, k] {
      for (int time = 0; time < 100; ++time) expect_answer({.thread_pool = thread_pools[k % 2]});
    });
  for (std::thread& t : threads) t.join();
}

}  // namespace
