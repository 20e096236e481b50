// SPDX-License-Identifier: Apache-2.0
// Whole graphs by reference: control flow, both modes, fused ops, refusals.
#include <gtest/gtest.h>

#include <cmath>

#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/infer/verify_types.h"
#include "ops/reference/evaluate.h"

namespace tenon::ops {
namespace {

std::unique_ptr<ir::Graph> parsed(std::string_view text) {
  auto graph = ir::parse(text, table());
  EXPECT_TRUE(graph) << graph.error().text();
  return graph ? std::move(*graph) : nullptr;
}

std::vector<double> first_of(const ir::Graph& graph, const std::vector<Tensor>& inputs, Mode mode = Mode::declared) {
  EvaluateOptions options;
  options.mode = mode;
  auto out = evaluate(graph, inputs, options);
  EXPECT_TRUE(out) << out.error().text();
  return out ? numbers_of((*out)[0]) : std::vector<double>();
}

Tensor floats(Sizes shape, std::vector<float> data) { return Tensor::of_f32(std::move(shape), data); }

TEST(Evaluate, TakesTheBranchThatTheConditionNames) {
  auto graph = parsed(R"(graph main(c: bool[], x: f32[2]) {
    r = If(c) else_branch={ graph(a: f32[2]) { n = Neg(a) return n } } captures=[x]
      then_branch={ graph(b: f32[2]) { m = Add(b, b) return m } } captures=[x]
    return r
  })");
  ASSERT_TRUE(graph);
  EXPECT_EQ(first_of(*graph, {Tensor::scalar(DType::boolean, 1), floats({2}, {1, 2})}), (std::vector<double>{2, 4}));
  EXPECT_EQ(first_of(*graph, {Tensor::scalar(DType::boolean, 0), floats({2}, {1, 2})}), (std::vector<double>{-1, -2}));
  EXPECT_TRUE(verify_types(*graph));
}

TEST(Evaluate, LoopCarriesValuesAndStacksScanOutputs) {
  auto graph = parsed(R"(graph main(n: i64[], x: f32[]) {
    const go: bool[] = true
    last, all = Loop(n, go, x) body={ graph(i: i64[], c: bool[], v: f32[]) { w = Add(v, v) k = Identity(c) return k, w, w } }
    return all, last
  })");
  ASSERT_TRUE(graph);
  const int64_t three = 3;
  EXPECT_EQ(first_of(*graph, {Tensor::of_i64({}, std::span(&three, 1)), floats({}, {1})}), (std::vector<double>{2, 4, 8}));
  EXPECT_EQ(first_of(*graph, {Tensor::of_i64({}, std::span(&three, 1)), floats({}, {1})}, Mode::wide), (std::vector<double>{2, 4, 8}));
}

TEST(Evaluate, LoopWidensShapesThatGrowInABodyWithin) {
  auto graph = parsed(R"(graph main(n: i64[], x: f32[1], twice: bool[]) {
    last = Loop(n, _, x) body={ graph(i: i64[], c: bool[], v: f32[m], twice: bool[]) {
      w = If(twice) then_branch={ graph(v: f32[m]) { t = Concat(v, v, axis=0) return t } } captures=[v]
        else_branch={ graph(v: f32[m]) { t = Concat(v, v, v, axis=0) return t } } captures=[v]
      return c, w } } captures=[twice]
    return last
  })");
  ASSERT_TRUE(graph);
  const int64_t two = 2;
  EXPECT_EQ(first_of(*graph, {Tensor::of_i64({}, std::span(&two, 1)), floats({1}, {7}), Tensor::scalar(DType::boolean, 1)}),
            (std::vector<double>{7, 7, 7, 7}));
}

TEST(Evaluate, LoopWidensShapesThatGrow) {
  auto graph = parsed(R"(graph main(n: i64[], x: f32[1]) {
    const go: bool[] = true
    last = Loop(n, go, x) body={ graph(i: i64[], c: bool[], v: f32[m]) { w = Concat(v, v, axis=0) return c, w } }
    return last
  })");
  ASSERT_TRUE(graph);
  const int64_t three = 3;
  EXPECT_EQ(first_of(*graph, {Tensor::of_i64({}, std::span(&three, 1)), floats({1}, {5})}).size(), 8u);
}

TEST(Evaluate, ScanRunsOverSlices) {
  auto graph = parsed(R"(graph main(s: f32[2], xs: f32[3,2]) {
    last, sums = Scan(s, xs, num_scan_inputs=1) body={ graph(a: f32[2], x: f32[2]) { b = Add(a, x) return b, b } }
    return sums, last
  })");
  ASSERT_TRUE(graph);
  EXPECT_EQ(first_of(*graph, {floats({2}, {0, 0}), floats({3, 2}, {1, 2, 3, 4, 5, 6})}), (std::vector<double>{1, 2, 4, 6, 9, 12}));
}

TEST(Evaluate, WideModeKeepsDigitsThatDeclaredModeRounds) {
  auto graph = parsed(R"(graph main(x: f32[1]) {
    const big: f32[1] = [16777216]
    a = Add(x, big)
    b = Sub(a, big)
    return b
  })");
  ASSERT_TRUE(graph);
  EXPECT_EQ(first_of(*graph, {floats({1}, {1})})[0], 0);
  EXPECT_EQ(first_of(*graph, {floats({1}, {1})}, Mode::wide)[0], 1);
}

TEST(Evaluate, WideModeTakesDecisionsAndInfinitiesFromDeclaredMode) {
  auto graph = parsed(R"(graph main(x: f32[2]) {
    const big: f32[1] = [3e38]
    y = Add(x, big)
    return y
  })");
  ASSERT_TRUE(graph);
  const auto y = first_of(*graph, {floats({2}, {3e38f, 1})}, Mode::wide);
  ASSERT_EQ(y.size(), 2u);
  EXPECT_TRUE(std::isinf(y[0]));
  EXPECT_FALSE(std::isinf(y[1]));
}

TEST(Evaluate, RefusesInputsThatDiffer) {
  auto graph = parsed("graph main(x: f32[2]) { y = Neg(x) return y }");
  ASSERT_TRUE(graph);
  auto out = evaluate(*graph, std::vector{floats({3}, {1, 2, 3})});
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().code(), Code::bad_input);
}

TEST(Expand, ReplacesAFusedOpByItsDefinition) {
  auto graph = parsed(R"(graph main(x: f32[1,1,2,2]) {
    const scales: f32[4] = [1, 1, 2, 2]
    y = Upsample(x, scales)
    return y
  })");
  ASSERT_TRUE(graph);
  const auto before = first_of(*graph, {floats({1, 1, 2, 2}, {1, 2, 3, 4})});
  auto done = expand(*graph, graph->first());
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_TRUE(graph->node(graph->first()).is("Resize"));
  EXPECT_EQ(first_of(*graph, {floats({1, 1, 2, 2}, {1, 2, 3, 4})}), before);
}

TEST(Evaluate, PerturbedValuesNearATieRoundToOtherIntegers) {
  const auto graph = parsed("graph main(x: f32[64]) { const c: f32[] = [0.1] m = Mul(x, c) y = Round(m) return y, m }");
  ASSERT_TRUE(graph);
  std::vector<float> near;
  for (int k = 0; k < 64; ++k) near.push_back(5.0F + static_cast<float>(k % 2) * 1e-6F);
  EvaluateOptions options;
  options.perturbs = true;
  const std::vector<Tensor> inputs{floats({64}, near)};
  const auto plain = evaluate(*graph, inputs), perturbed = evaluate(*graph, inputs, options);
  ASSERT_TRUE(plain && perturbed);
  int moved = 0, decided = 0;
  for (int64_t k = 0; k < 64; ++k) {
    moved += (*plain)[1].number(k) != (*perturbed)[1].number(k);
    decided += (*plain)[0].number(k) != (*perturbed)[0].number(k);
    EXPECT_NEAR((*plain)[1].number(k), (*perturbed)[1].number(k), 2e-6);
  }
  EXPECT_GT(moved, 32);
  EXPECT_GT(decided, 0);
}

}  // namespace
}  // namespace tenon::ops
