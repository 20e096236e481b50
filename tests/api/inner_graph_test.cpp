// SPDX-License-Identifier: Apache-2.0
// Plugins that run inner graphs, in contexts of their own and beside each other.
#include <gtest/gtest.h>
#include <tenon/graph.h>

#include <thread>

#include "allocations.h"

namespace {

const std::filesystem::path kGemm = TENON_GEMM;

tenon::Engine compiled(const std::string& text, bool isolated = false) {
  const auto graph = tenon::Graph::parse(text, std::vector{kGemm});
  EXPECT_TRUE(graph) << graph.error().text();
  return *tenon::compile(*graph, {.plugins = {kGemm}, .isolate_plugins = isolated});
}

tenon::Engine product_by(const std::string& op, bool isolated = false) {
  return compiled("graph main(a: f32[m,k], b: f32[k,n]) { y = " + op + "(a, b) return y }", isolated);
}

std::vector<float> numbers(int64_t count, float first) {
  std::vector<float> out(static_cast<size_t>(count));
  for (size_t k = 0; k < out.size(); ++k) out[k] = first + static_cast<float>(k % 7);
  return out;
}

/// Small integers: products are exact, whatever the order of the sum.
std::vector<float> product(const std::vector<float>& a, const std::vector<float>& b, int64_t m, int64_t k, int64_t n) {
  std::vector<float> out(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t l = 0; l < k; ++l)
        out[static_cast<size_t>(i * n + j)] += a[static_cast<size_t>(i * k + l)] * b[static_cast<size_t>(l * n + j)];
  return out;
}

class ApiInnerGraphContexts : public testing::TestWithParam<bool> {};

TEST_P(ApiInnerGraphContexts, RunAtOnce) {
  const tenon::Engine engine = product_by("acme::Gemm", GetParam());
  std::vector<std::thread> threads;
  std::vector<int> wrong(8);
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      auto context = *tenon::Context::create(engine);
      for (int64_t round = 0; round < 40; ++round) {
        const int64_t m = 1 + (round / 10 + t) % 5 * 16, k = 3 + t, n = 64;
        const auto a = numbers(m * k, static_cast<float>(t)), b = numbers(k * n, 1);
        const auto y = context.run(std::vector{tenon::Array({m, k}, a), tenon::Array({k, n}, b)});
        wrong[static_cast<size_t>(t)] += !y || !std::ranges::equal((*y)[0].as<float>(), product(a, b, m, k, n));
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<int>(8));
}

INSTANTIATE_TEST_SUITE_P(Isolated, ApiInnerGraphContexts, testing::Bool());

/// The number of allocations of a run after a warm-up, with arguments of equal sizes at other addresses each time.
long allocations_of_a_warm_run(const tenon::Engine& engine) {
  auto context = *tenon::Context::create(engine);
  std::vector<std::vector<tenon::Array>> inputs;
  std::vector<std::vector<float>> memory, places;
  for (int turn = 0; turn < 4; ++turn) {
    memory.push_back(numbers(std::int64_t{32} * 48, 1));
    memory.push_back(numbers(std::int64_t{48} * 64, 2));
    places.push_back(numbers(std::int64_t{32} * 64, 0));
    inputs.push_back({tenon::Array({32, 48}, memory[memory.size() - 2]), tenon::Array({48, 64}, memory.back())});
  }
  const auto run = [&](size_t turn) {
    EXPECT_TRUE(context.bind_output(0, places[turn].data(), places[turn].size() * sizeof(float)));
    EXPECT_TRUE(context.run(inputs[turn]));
  };
  run(0);
  run(1);
  const long before = tenon::tests::allocations;
  run(2);
  run(3);
  const long after = tenon::tests::allocations;
  EXPECT_EQ(places[3], product(memory[6], memory[7], 32, 48, 64));
  return after - before;
}

TEST(ApiInnerGraphs, AllocateNothingForKnownSizes) {
  EXPECT_EQ(allocations_of_a_warm_run(product_by("acme::Gemm")), allocations_of_a_warm_run(product_by("MatMul")));
}

TEST(ApiInnerGraphs, RunInBodiesOfBranchesAndLoops) {
  const tenon::Engine engine = compiled(R"(graph main(go: bool[], a: f32[m,3], b: f32[3,3]) {
    y = If(go) then_branch={ graph(p: f32[m,3], q: f32[3,3]) { r = acme::Gemm(p, q) return r } } captures=[a, b]
      else_branch={ graph(p: f32[m,3], q: f32[3,3]) {
        const two: i64[] = 2
        last = Loop(two, _, p) body={ graph(i: i64[], c: bool[], v: f32[m,3], w: f32[3,3]) {
          n = acme::Gemm(v, w) return c, n } } captures=[q]
        return last } } captures=[a, b]
    return y })");
  const auto a = numbers(6, 1), b = numbers(9, 2), once = product(a, b, 2, 3, 3);
  for (const bool go : {true, false}) {
    const auto y = engine.run(std::vector{tenon::Array({}, std::span(&go, 1)), tenon::Array({2, 3}, a), tenon::Array({3, 3}, b)});
    ASSERT_TRUE(y) << y.error().text();
    EXPECT_TRUE(std::ranges::equal((*y)[0].as<float>(), go ? once : product(once, b, 2, 3, 3)));
  }
}

/// A run has its turn of a thread pool when its inner graphs ask for the thread pool's threads.
TEST(ApiInnerGraphs, RunOnTheTeamOfTheirRun) {
  const tenon::Engine engine = product_by("acme::Gemm");
  const auto thread_pool = *tenon::ThreadPool::create({.threads = 3});
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      auto context = *tenon::Context::create(engine);
      const int64_t m = 64, k = 32, n = 256;
      const auto a = numbers(m * k, static_cast<float>(t)), b = numbers(k * n, 1);
      for (int round = 0; round < 20; ++round) {
        const auto y = context.run(std::vector{tenon::Array({m, k}, a), tenon::Array({k, n}, b)},
                                   {.check_memory = round % 2 == 1, .thread_pool = thread_pool});
        wrong[t] += !y || !std::ranges::equal((*y)[0].as<float>(), product(a, b, m, k, n));
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

TEST(ApiInnerGraphs, EndWithTheRunThatTheyArePartOf) {
  const tenon::Engine engine = product_by("acme::Gemm");
  auto context = *tenon::Context::create(engine);
  const auto a = numbers(6, 1), b = numbers(6, 1);
  const std::vector inputs{tenon::Array({2, 3}, a), tenon::Array({3, 2}, b)};
  EXPECT_TRUE(context.run(inputs));
  const auto late = context.run(inputs, {.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1)});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, tenon::Code::deadline);
  EXPECT_TRUE(context.run(inputs)) << "and on";
}

}  // namespace
