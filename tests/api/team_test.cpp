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
    const auto team = tenon::Team::create({.threads = threads});
    ASSERT_TRUE(team) << team.error().text();
    EXPECT_EQ(team->threads(), threads);
    EXPECT_TRUE(team->cpus().empty());
    expect_answer({.team = *team});
    expect_answer({.threads = 1, .team = *team});
  }
  expect_answer({.team = tenon::Team()});
  EXPECT_GE(tenon::Team().threads(), 1);
}

TEST_F(ApiTeam, IsRefusedWithoutThreadsOrOnCpusThatAreNotThere) {
  const auto none = tenon::Team::create({.threads = 0});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, tenon::Code::bad_usage);
  EXPECT_EQ(none.error().place, "threads");
  const auto nowhere = tenon::Team::create({.cpus = {9999}});
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().place, "cpus");
  EXPECT_EQ(nowhere.error().found, "9999");
}

TEST_F(ApiTeam, OutlivesContextsAndTheyOutliveIt) {
  auto team = std::make_unique<tenon::Team>(*tenon::Team::create({.threads = 2}));
  for (int k = 0; k < 3; ++k) {
    auto context = tenon::Context::create(engine);
    EXPECT_TRUE(context->run({&input, 1}, {.team = *team}));
  }
  auto context = tenon::Context::create(engine);
  const tenon::RunOptions options{.team = *team};
  EXPECT_TRUE(context->run({&input, 1}, options));
  team.reset();  // the options hold it
  EXPECT_TRUE(context->run({&input, 1}, options));
  {
    const tenon::RunOptions passing{.team = *tenon::Team::create({.threads = 3})};
    EXPECT_TRUE(context->run({&input, 1}, passing));
  }
  const auto results = context->run({&input, 1});
  ASSERT_TRUE(results);
  EXPECT_EQ(floats((*results)[0]), expected);
}

TEST_F(ApiTeam, IsSharedOrSplit) {
  const tenon::Team teams[] = {*tenon::Team::create({.threads = 2}), *tenon::Team::create({.threads = 2})};
  std::vector<std::thread> threads;
  for (size_t k = 0; k < 4; ++k)
    threads.emplace_back([&, k] {
      for (int time = 0; time < 100; ++time) expect_answer({.team = teams[k % 2]});
    });
  for (std::thread& t : threads) t.join();
}

}  // namespace
