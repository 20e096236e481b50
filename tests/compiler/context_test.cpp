// SPDX-License-Identifier: Apache-2.0
// Errors of a context for wrong inputs, and its runs: other shapes, bound results, stopping, threads.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "helpers.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"

namespace tenon::compiler {
namespace {

constexpr std::string_view kText = R"(graph model(x: f32[batch,6], y: f32[batch,6]) {
  const w: f32[6,4] = [0.5, -1, 2, 0.25, 1, 1, -0.5, 3, 0.125, -2, 1, 0.75, -1, 0.5, 2, 1, 1.5, -0.25, 0, 1, 2, -3, 0.5, 0.1]
  sum: f32[batch,6] = Add(x, y)
  product: f32[batch,4] = MatMul(sum, w)
  result: f32[batch,4] = Softmax(product, axis=-1)
  return result
})";

class ContextRuns : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    auto engine = testing::engine_of(kText, GetParam());
    ASSERT_TRUE(engine) << engine.error().text();
    engine_ = *engine;
    context_ = *runtime::Context::create(engine_);
  }

  static std::vector<Tensor> inputs(int64_t batch, uint64_t seed = 1) {
    return {*ops::random_tensor(DType::f32, {batch, 6}, seed), *ops::random_tensor(DType::f32, {batch, 6}, seed + 1)};
  }
  static std::vector<Tensor> wanted(std::span<const Tensor> in) { return *ops::evaluate(**ir::parse(kText, ops::table()), in); }

  void refused(const std::vector<Tensor>& in, std::string_view word) {
    auto results = context_->run(in);
    ASSERT_FALSE(results);
    EXPECT_EQ(results.error().code(), Code::bad_input) << results.error().text();
    EXPECT_NE(results.error().text().find(word), std::string::npos) << results.error().text();
  }

  std::shared_ptr<runtime::Engine> engine_;
  std::unique_ptr<runtime::Context> context_;
};

TEST_P(ContextRuns, RefusesWrongInputsAndRunsOn) {
  auto good = inputs(3);
  refused({good[0]}, "number of inputs");
  refused({*ops::random_tensor(DType::f64, {3, 6}, 1), good[1]}, "dtype");
  refused({*ops::random_tensor(DType::f32, {6}, 1), good[1]}, "rank");
  refused({*ops::random_tensor(DType::f32, {3, 5}, 1), good[1]}, "dimension 1");
  refused({good[0], *ops::random_tensor(DType::f32, {4, 6}, 1)}, "dimension 0");
  auto results = context_->run(good);
  ASSERT_TRUE(results) << results.error().text();
  EXPECT_EQ(testing::difference(wanted(good)[0], (*results)[0]), "");
}

TEST_P(ContextRuns, TakesAnyBatchWithoutBeingCompiledAgain) {
  for (int64_t batch : {1, 7, 2, 100, 0, 33, 1}) {
    const auto in = inputs(batch);
    auto results = context_->run(in);
    ASSERT_TRUE(results) << results.error().text();
    EXPECT_EQ(testing::difference(wanted(in)[0], (*results)[0]), "") << "batch " << batch;
  }
}

TEST_P(ContextRuns, WritesResultsWhereTheyWereBound) {
  const auto in = inputs(5);
  std::vector<float> memory(5 * 4, -1);
  context_->bind_output(0, memory.data(), memory.size() * 4);
  auto results = context_->run(in);
  ASSERT_TRUE(results) << results.error().text();
  EXPECT_EQ(static_cast<const void*>((*results)[0].data()), memory.data());
  EXPECT_EQ(testing::difference(wanted(in)[0], Tensor::of_f32({5, 4}, memory)), "");
  EXPECT_EQ(context_->run(inputs(6)).error().code(), Code::bad_input);
  context_->bind_output(0, nullptr, 0);
  results = context_->run(inputs(6));
  ASSERT_TRUE(results) << results.error().text();
  EXPECT_NE(static_cast<const void*>((*results)[0].data()), memory.data());
}

TEST_P(ContextRuns, StopsOnRequestAndAtTheDeadline) {
  const auto in = inputs(2);
  runtime::StopToken token;
  runtime::RunOptions options;
  options.token = &token;
  ASSERT_TRUE(context_->run(in, options));
  token.stop = true;
  EXPECT_EQ(context_->run(in, options).error().code(), Code::cancelled);
  options.token = nullptr;
  options.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  EXPECT_EQ(context_->run(in, options).error().code(), Code::deadline);
  EXPECT_TRUE(context_->run(in));
}

TEST_P(ContextRuns, SaysWhatItNeedsBeforeTheRun) {
  const std::vector<Sizes> shapes = {{50, 6}, {50, 6}};
  const auto planned = context_->planned_bytes(shapes);
  ASSERT_TRUE(planned) << planned.error().text();
  EXPECT_EQ(context_->arena_bytes(), 0u);
  ASSERT_TRUE(context_->run(inputs(50)));
  EXPECT_EQ(context_->arena_bytes(), planned->values);
}

TEST_P(ContextRuns, ContextsInSeveralThreadsShareAnEngine) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      auto context = *runtime::Context::create(engine_);
      for (int64_t round = 0; round < 20; ++round) {
        const auto in = inputs(1 + (round * 7 + static_cast<int64_t>(t)) % 40, t * 100 + static_cast<uint64_t>(round));
        auto results = context->run(in);
        if (!results || !testing::difference(wanted(in)[0], (*results)[0]).empty()) ++wrong;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(ContextRuns, GivesTheSameBytesWithAnyNumberOfThreads) {
  const auto in = inputs(200);
  runtime::RunOptions one;
  one.threads = 1;
  const Tensor alone = (*context_->run(in, one))[0];
  const std::vector<std::byte> bytes(alone.data(), alone.data() + alone.byte_size());
  const Tensor together = (*context_->run(in))[0];
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), together.data()));
}

INSTANTIATE_TEST_SUITE_P(EveryLevel, ContextRuns, ::testing::Values(0, 3));

}  // namespace
}  // namespace tenon::compiler
