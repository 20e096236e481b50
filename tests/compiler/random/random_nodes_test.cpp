// SPDX-License-Identifier: Apache-2.0
// Random nodes in engines: the numbers of the reference, whatever the threads, the level and where the engine comes from.
#include <gtest/gtest.h>

#include "helpers.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"

namespace tenon::compiler {
namespace {

constexpr std::string_view kModel = R"(graph main(x: f32[64], p: f32[200]) {
  const trips: i64[] = 4
  const go: bool[] = true
  const half: f32[] = 0.5
  const yes: bool[] = true
  a = RandomNormalLike(x)
  b = RandomNormalLike(x)
  c = Bernoulli(p)
  d = Bernoulli(p)
  e = Dropout(x, half, yes)
  f = Dropout(x, half, yes)
  rows = Loop(trips, go) body={ graph(i: i64[], cond: bool[]) { keep = Identity(cond) r = RandomUniform(shape=[5]) return keep, r } }
  s = RandomUniform(shape=[7], seed=3.0)
  t = RandomUniform(shape=[7], seed=3.0)
  return a, b, c, d, e, f, rows, s, t
})";

std::vector<Tensor> inputs() {
  Tensor x = *ops::random_tensor(DType::f32, {64}, 1, 1, 2), p = *Tensor::make(DType::f32, {200});
  for (int64_t k = 0; k < 200; ++k) p.set_number(k, 0.5);
  return {x, p};
}

bool equal(const Tensor& a, const Tensor& b) { return testing::difference(a, b, 0) == ""; }

/// Copies of the results of one run.
std::vector<Tensor> run(const std::shared_ptr<runtime::Engine>& engine, std::optional<uint64_t> seed, int threads = 0) {
  auto context = *runtime::Context::create(engine);
  runtime::RunOptions options;
  options.seed = seed;
  options.threads = threads;
  std::vector<Tensor> out;
  const auto in = inputs();
  const auto results = context->run(in, options);
  EXPECT_TRUE(results) << results.error().text();
  for (const Tensor& t : *results) {
    Tensor copy = *Tensor::make(t.dtype(), t.shape());
    std::copy_n(t.data(), t.byte_size(), copy.mutable_data());
    out.push_back(std::move(copy));
  }
  return out;
}

class RandomNodes : public ::testing::TestWithParam<int> {};

TEST_P(RandomNodes, DrawTheReferencesNumbers) {
  ops::EvaluateOptions options;
  options.random.seed = 11;
  const auto want = ops::evaluate(**ir::parse(kModel, ops::table()), inputs(), options);
  ASSERT_TRUE(want) << want.error().text();
  const auto engine = testing::engine_of(kModel, GetParam());
  ASSERT_TRUE(engine) << engine.error().text();
  for (int threads : {1, 4}) {
    const auto got = run(*engine, 11, threads);
    for (size_t k = 0; k < want->size(); ++k) EXPECT_EQ(testing::difference((*want)[k], got[k]), "") << "result " << k;
  }
}

TEST_P(RandomNodes, AreNotMergedAndDrawOtherNumbersEachRun) {
  const auto engine = testing::engine_of(kModel, GetParam());
  ASSERT_TRUE(engine) << engine.error().text();
  const auto first = run(*engine, std::nullopt), second = run(*engine, std::nullopt);
  for (size_t k : {0, 2, 4}) EXPECT_FALSE(equal(first[k], first[k + 1])) << "results " << k << " and " << k + 1;
  for (size_t k = 0; k < 7; ++k) EXPECT_FALSE(equal(first[k], second[k])) << "result " << k;
  EXPECT_TRUE(equal(first[7], first[8]));
  EXPECT_TRUE(equal(first[7], second[7]));
  const Tensor& rows = first[6];
  for (int64_t a = 0; a < 4; ++a)
    for (int64_t b = 0; b < a; ++b) EXPECT_NE(rows.number(5 * a), rows.number(5 * b));
}

INSTANTIATE_TEST_SUITE_P(Levels, RandomNodes, ::testing::Values(0, 3));

}  // namespace
}  // namespace tenon::compiler
