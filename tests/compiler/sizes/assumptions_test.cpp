// SPDX-License-Identifier: Apache-2.0
// Sizes that inference takes for granted are checked when they are known: before any kernel relies on them, naming the node.
#include <gtest/gtest.h>

#include "helpers.h"
#include "ops/core/sample.h"

namespace tenon::compiler {
namespace {

Tensor f32(Sizes shape) { return *ops::random_tensor(DType::f32, std::move(shape), 1); }

/// Runs at both levels on the inputs; "" where it gives results, else the error.
std::string outcome(std::string_view text, const std::vector<Tensor>& inputs, int opt) {
  auto got = testing::compiled_results(*ir::parse(text, ops::table()), inputs, opt);
  return got ? "" : got.error().text();
}

void expect_refused(std::string_view text, const std::vector<Tensor>& inputs, std::initializer_list<std::string_view> parts) {
  for (int opt : {0, 3}) {
    const std::string error = outcome(text, inputs, opt);
    for (std::string_view part : parts)
      EXPECT_NE(error.find(part), std::string::npos) << "opt " << opt << ": '" << part << "' is not in: " << error;
  }
}

void expect_accepted(std::string_view text, const std::vector<Tensor>& inputs) {
  for (int opt : {0, 3}) EXPECT_EQ(outcome(text, inputs, opt), "") << "opt " << opt;
}

constexpr std::string_view kConcat = R"(graph(a: f32[n,4], b: f32[m,4]) {
  c: f32[n,8] = Concat(a, b, axis=1) @"joined"
  return c
})";
constexpr std::string_view kAdd = R"(graph(a: f32[n], b: f32[m]) {
  c = Add(a, b) @"sum"
  return c
})";

TEST(Assumptions, ConcatOfUnequalSizesIsRefused) {
  expect_refused(kConcat, {f32({3, 4}), f32({50000, 4})}, {"joined", "n = 3", "m = 50000"});
  expect_accepted(kConcat, {f32({3, 4}), f32({3, 4})});
}

TEST(Assumptions, AddOfUnequalSizesIsRefusedAndOfOneSpread) {
  expect_refused(kAdd, {f32({3}), f32({5})}, {"sum", "n = 3", "m = 5"});
  expect_accepted(kAdd, {f32({5}), f32({5})});
  expect_accepted(kAdd, {f32({1}), f32({5})});
  expect_accepted(kAdd, {f32({0}), f32({1})});
  expect_refused(kAdd, {f32({0}), f32({2})}, {"sum"});
}

TEST(Assumptions, OfOpsByReferenceNameTheNode) {
  expect_refused(R"(graph(a: f32[n,4], i: i64[p,d], u: f32[q,4]) {
    c = ScatterND(a, i, u) @"put"
    return c
  })",
                 {f32({3, 4}), Tensor::of_i64({2, 1}, std::vector<int64_t>{0, 1}), f32({3, 4})}, {"put"});
}

TEST(Assumptions, OneZeroPointServesAllRows) {
  constexpr std::string_view kText = R"(graph(a: u8[n,4], b: u8[4,5], z: u8[k]) {
    c = MatMulInteger(a, b, z) @"product"
    return c
  })";
  const auto bytes = [](Sizes shape) { return *ops::random_tensor(DType::u8, std::move(shape), 1, 0, 9); };
  expect_accepted(kText, {bytes({3, 4}), bytes({4, 5}), bytes({1})});
  expect_accepted(kText, {bytes({3, 4}), bytes({4, 5}), bytes({3})});
  expect_refused(kText, {bytes({3, 4}), bytes({4, 5}), bytes({2})}, {"product", "k = 2", "n = 3"});
}

TEST(Assumptions, ZeroSpreadsOverOne) {
  auto got = testing::compiled_results(*ir::parse(kAdd, ops::table()), std::vector{f32({0}), f32({1})}, 3);
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ((*got)[0].shape(), Sizes({0}));
}

TEST(Assumptions, AWindowMayReachOverTheEndByLessThanItsStrideInCeilMode) {
  for (std::string op : {"AveragePool", "MaxPool", "LpPool"}) {
    const std::string pool = "graph(a: f32[1,2,h,w]) { c = " + op + "(a, kernel_shape=[8, 8], strides=[8, 8], ceil_mode=";
    expect_accepted(pool + "1) return c }", {f32({1, 2, 2, 3})});
    expect_refused(pool + "0) return c }", {f32({1, 2, 2, 3})}, {"h between 8 and"});
    expect_refused(pool + "1, dilations=[2, 2]) return c }", {f32({1, 2, 2, 3})}, {"h between 8 and"});
  }
}

TEST(Assumptions, OfContractionsReshapesAndScatters) {
  expect_refused(R"(graph(a: f32[n,k], b: f32[l,m]) {
    c = MatMul(a, b) @"product"
    return c
  })",
                 {f32({3, 4}), f32({3, 4})}, {"product", "k = 4", "l = 3"});
  expect_refused(R"(graph(a: f32[n]) {
    const s: i64[2] = [40, 70]
    c = Reshape(a, s) @"wide"
    return c
  })",
                 {f32({4})}, {"wide", "n = 4", "2800"});
  expect_refused(R"(graph(a: f32[n,4], i: i64[p,1], u: f32[q,4]) {
    c = ScatterND(a, i, u) @"put"
    return c
  })",
                 {f32({3, 4}), Tensor::of_i64({2, 1}, std::vector<int64_t>{0, 1}), f32({3, 4})}, {"put", "q = 3", "p = 2"});
}

TEST(Assumptions, ADiagonalIsAsLongAsItIsWide) {
  const char* text = "graph(a: f32[n,m]) { c = Einsum(a, equation=\"ii->i\") @\"diagonal\" return c }";
  expect_refused(text, {f32({3, 1})}, {"diagonal", "n = 3", "m = 1"});
  expect_accepted(text, {f32({3, 3})});
}

TEST(Assumptions, AnUpdateIsNoLongerThanTheCacheThatItGoesInto) {
  const char* text = "graph(p: f32[b,n,4], u: f32[b,m,4]) { c = TensorScatter(p, u, mode=\"circular\") @\"cache\" return c }";
  expect_refused(text, {f32({1, 3, 4}), f32({1, 5, 4})}, {"cache", "n = 3", "m = 5"});
  expect_accepted(text, {f32({1, 3, 4}), f32({1, 3, 4})});
}

TEST(Assumptions, WindowsFitIntoTheirInput) {
  constexpr std::string_view kPool = R"(graph(a: f32[1,1,n]) {
    c = MaxPool(a, kernel_shape=[5], strides=[2]) @"pool"
    return c
  })";
  expect_refused(kPool, {f32({1, 1, 4})}, {"n between 5"});
  expect_accepted(kPool, {f32({1, 1, 5})});
}

TEST(Assumptions, ThatDependOnDataAreCheckedBeforeTheyAreUsed) {
  constexpr std::string_view kLate = R"(graph(a: f32[n], b: f32[m]) {
    i: i64[1,u] = NonZero(a) @"places"
    const z: i64[1] = [0]
    j: i64[u] = Squeeze(i, z)
    f: f32[u] = Cast(j, to=1)
    c = Add(f, b) @"late"
    return c
  })";
  const Tensor a = Tensor::of_f32({4}, std::vector<float>{1, 0, 2, 3});
  expect_accepted(kLate, {a, f32({3})});
  expect_refused(kLate, {a, f32({2})}, {"late", "m = 2"});
}

TEST(Assumptions, OutliveTheNodesThatMadeThem) {
  // The sum of x*0 goes away with rewriting; that a and b fit each other does not.
  constexpr std::string_view kGone = R"(graph(a: f32[n,4], b: f32[m,4]) {
    c = Concat(a, b, axis=1) @"joined"
    const s: i64[1] = [0]
    const e: i64[1] = [4]
    const x: i64[1] = [1]
    d = Slice(c, s, e, x)
    return d
  })";
  expect_refused(kGone, {f32({3, 4}), f32({2, 4})}, {"joined", "n = 3", "m = 2"});
}

Tensor truth(bool value) { return Tensor::scalar(DType::boolean, value); }

TEST(Assumptions, OfABranchAreCheckedWhereItRuns) {
  constexpr std::string_view kBranches = R"(graph(c: bool[], a: f32[n], b: f32[m]) {
    r = If(c) @"choice" then_branch={ graph(x: f32[n], y: f32[m]) { s = Add(x, y) @"inner" return s } } captures=[a, b]
      else_branch={ graph(z: f32[n]) { t = Neg(z) return t } } captures=[a]
    return r
  })";
  expect_refused(kBranches, {truth(true), f32({3}), f32({5})}, {"inner", "n = 3", "m = 5"});
  expect_accepted(kBranches, {truth(false), f32({3}), f32({5})});
  expect_accepted(kBranches, {truth(true), f32({3}), f32({3})});
}

TEST(Assumptions, OfALoopHoldInEveryTurn) {
  constexpr std::string_view kLoop = R"(graph(k: i64[], a: f32[n], b: f32[m]) {
    const go: bool[] = true
    r = Loop(k, go, a) @"turns" body={ graph(i: i64[], on: bool[], x: f32[w], y: f32[m]) {
      s = Concat(x, x, axis=0) t = Add(x, y) @"inner" u = ReduceSum(t, keepdims=0) v = Mul(s, u) return on, v } } captures=[b]
    return r
  })";
  const auto times = [](int64_t n) { return Tensor::scalar(DType::i64, static_cast<double>(n)); };
  expect_accepted(kLoop, {times(1), f32({3}), f32({3})});
  expect_refused(kLoop, {times(2), f32({3}), f32({3})}, {"inner"});  // 6 and 3 in the second turn
}

TEST(Assumptions, ArePrintedAndParsed) {
  auto graph = *ir::parse(kAdd, ops::table());
  ASSERT_EQ(graph->assumptions.size(), 1u);
  const std::string text = ir::print(*graph);
  EXPECT_NE(text.find("assume broadcast [n, m] \"node 'sum' (Add)\""), std::string::npos) << text;
  auto again = ir::parse(text, ops::table());
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(ir::print(**again), text);
}

TEST(Assumptions, ARewriteMayNotMakeNewOnes) {
  // MatMul and Add would become Gemm, whose C may not be larger than the product: here it may be.
  constexpr std::string_view kMayGrow = R"(graph(a: f32[n,4], b: f32[4,3], c: f32[m,3]) {
    p = MatMul(a, b)
    d = Add(p, c)
    return d
  })";
  expect_accepted(kMayGrow, {f32({1, 4}), f32({4, 3}), f32({5, 3})});
  expect_accepted(kMayGrow, {f32({5, 4}), f32({4, 3}), f32({1, 3})});
}

}  // namespace
}  // namespace tenon::compiler
