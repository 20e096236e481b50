// SPDX-License-Identifier: Apache-2.0
// Random nodes by reference: their numbers depend on seed, stream, run and iteration alone.
#include <gtest/gtest.h>

#include <cmath>

#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/core/random_streams.h"
#include "ops/reference/evaluate.h"

namespace tenon::ops {
namespace {

std::unique_ptr<ir::Graph> graph_of(std::string_view text) {
  auto graph = ir::parse(text, table());
  EXPECT_TRUE(graph) << graph.error().text();
  return graph ? *std::move(graph) : nullptr;
}

std::vector<Tensor> results(std::string_view text, uint64_t seed, std::vector<Tensor> inputs = {}) {
  EvaluateOptions options;
  options.random.seed = seed;
  auto out = evaluate(*graph_of(text), inputs, options);
  EXPECT_TRUE(out) << out.error().text();
  return out ? *std::move(out) : std::vector<Tensor>();
}

bool equal(const Tensor& a, const Tensor& b) {
  for (int64_t k = 0; k < a.count(); ++k)
    if (a.number(k) != b.number(k)) return false;
  return a.shape() == b.shape();
}

constexpr std::string_view kTwoNodes = "graph main() { a = RandomNormal(shape=[20]) b = RandomNormal(shape=[20]) return a, b }";

TEST(RandomNodes, AreSeparateStreams) {
  const auto r = results(kTwoNodes, 1);
  EXPECT_FALSE(equal(r[0], r[1]));
}

TEST(RandomNodes, RepeatWithTheSeedOfTheRun) {
  EXPECT_TRUE(equal(results(kTwoNodes, 5)[0], results(kTwoNodes, 5)[0]));
  EXPECT_FALSE(equal(results(kTwoNodes, 5)[0], results(kTwoNodes, 6)[0]));
}

TEST(RandomNodes, WithOneSeedDrawOneStreamInEveryRun) {
  constexpr std::string_view kText =
      "graph main() { a = RandomUniform(shape=[9], seed=3.0) b = RandomUniform(shape=[9], seed=3.0)"
      " c = RandomUniform(shape=[9], seed=4.0) return a, b, c }";
  const auto r = results(kText, 1), s = results(kText, 2);
  EXPECT_TRUE(equal(r[0], r[1]));
  EXPECT_TRUE(equal(r[0], s[0]));
  EXPECT_FALSE(equal(r[0], r[2]));
}

TEST(RandomNodes, DrawOtherNumbersInEachIteration) {
  constexpr std::string_view kText = R"(graph main() {
    const n: i64[] = 3
    const go: bool[] = true
    rows = Loop(n, go) body={ graph(i: i64[], c: bool[]) { keep = Identity(c) r = RandomUniform(shape=[8]) return keep, r } }
    return rows
  })";
  const Tensor rows = results(kText, 1)[0];
  ASSERT_EQ(rows.shape(), (Sizes{3, 8}));
  for (int64_t a = 0; a < 3; ++a)
    for (int64_t b = 0; b < a; ++b) EXPECT_NE(rows.number(a * 8), rows.number(b * 8)) << a << " and " << b;
}

TEST(RandomNodes, AreNumberedOnceInSourceOrder) {
  const auto graph = graph_of(kTwoNodes);
  EXPECT_TRUE(has_unnumbered_streams(*graph));
  number_random_streams(*graph);
  EXPECT_FALSE(has_unnumbered_streams(*graph));
  std::vector<int64_t> streams;
  for (const ir::NodeId n : graph->nodes()) streams.push_back(graph->node(n).attributes.integer(kStreamAttribute, -1));
  EXPECT_EQ(streams, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(ir::print(*graph_of(ir::print(*graph))), ir::print(*graph));
}

TEST(Dropout, DrawsInTrainingModeAlone) {
  constexpr std::string_view kTraining = R"(graph main(x: f32[100]) {
    const ratio: f32[] = 0.5
    const yes: bool[] = true
    y = Dropout(x, ratio, yes)
    z = Dropout(x, ratio, yes)
    w = Dropout(x, ratio)
    return y, z, w
  })";
  Tensor x = *Tensor::make(DType::f32, {100});
  for (int64_t k = 0; k < 100; ++k) x.set_number(k, 1);
  const auto r = results(kTraining, 1, {x}), s = results(kTraining, 2, {x});
  EXPECT_FALSE(equal(r[0], r[1]));
  EXPECT_FALSE(equal(r[0], s[0]));
  EXPECT_TRUE(equal(r[2], x));
  const auto graph = graph_of(kTraining);
  std::vector<bool> random;
  for (const ir::NodeId n : graph->nodes()) random.push_back(is_random(*graph, n));
  EXPECT_EQ(random, (std::vector<bool>{true, true, false}));
}

TEST(Multinomial, DrawsClassesByTheirProbabilities) {
  constexpr std::string_view kText = "graph main(x: f32[2,3]) { y = Multinomial(x, sample_size=10000, dtype=7) return y }";
  Tensor logits = *Tensor::make(DType::f32, {2, 3});
  const double kProbabilities[] = {0.5, 0.2, 0.3, 0, 1, 0};
  for (int64_t k = 0; k < 6; ++k) logits.set_number(k, std::log(kProbabilities[k]));
  const Tensor drawn = results(kText, 4, {logits})[0];
  ASSERT_EQ(drawn.shape(), (Sizes{2, 10000}));
  int64_t counts[6] = {};
  for (int64_t k = 0; k < drawn.count(); ++k) ++counts[3 * (k / 10000) + drawn.integer(k)];
  for (int k = 0; k < 6; ++k) EXPECT_NEAR(static_cast<double>(counts[k]) / 10000, kProbabilities[k], 0.02) << k;
}

TEST(Multinomial, RefusesProbabilitiesWithoutASum) {
  const auto graph = graph_of("graph main(x: f32[1,2]) { y = Multinomial(x) return y }");
  Tensor logits = *Tensor::make(DType::f32, {1, 2});
  for (int64_t k = 0; k < 2; ++k) logits.set_number(k, -INFINITY);
  const auto out = evaluate(*graph, std::vector<Tensor>{logits});
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().code(), Code::bad_input);
}

}  // namespace
}  // namespace tenon::ops
