// SPDX-License-Identifier: Apache-2.0
// An index outside its table is an error wherever it comes from, never a wrong row.
#include <gtest/gtest.h>

#include "helpers.h"

namespace tenon::compiler {
namespace {

Tensor ids(std::vector<int64_t> values) { return Tensor::of_i64({static_cast<int64_t>(values.size())}, values); }

/// The error of a run, by its code and what it found; "" where it succeeds.
std::string outcome(std::string_view text, std::vector<Tensor> inputs, int opt) {
  auto engine = testing::engine_of(text, opt);
  if (!engine) return engine.error().text();
  auto context = runtime::Context::create(*engine);
  const auto got = (*context)->run(inputs);
  if (got) return "";
  return std::string(name_of(got.error().code())) + " " + got.error()->found;
}

void check(std::string_view text, std::vector<Tensor> good, std::vector<Tensor> bad, const std::string& found) {
  for (int opt : {0, 3}) {
    EXPECT_EQ(outcome(text, good, opt), "") << "opt " << opt;
    EXPECT_EQ(outcome(text, bad, opt), std::string(name_of(Code::index_out_of_range)) + " " + found) << "opt " << opt;
  }
}

const Tensor kTable = Tensor::of_f32({4, 2}, std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});

TEST(IndexChecks, OfAnInput) {
  constexpr std::string_view kText = "graph main(t: f32[4,2], i: i64[n]) { y = Gather(t, i) return y }";
  check(kText, {kTable, ids({0, 3, -4})}, {kTable, ids({0, 4})}, "4");
  check(kText, {kTable, ids({-1})}, {kTable, ids({-5})}, "-5");
}

TEST(IndexChecks, OfWhatTheModelComputes) {
  constexpr std::string_view kText = "graph main(t: f32[4,2], i: i64[n]) { k = Mul(i, i) y = Gather(t, k) z = Exp(y) return z }";
  check(kText, {kTable, ids({0, 1, -1})}, {kTable, ids({1, 2, 0})}, "4");
}

TEST(IndexChecks, OfATableWhoseSizeIsKnownAtRunTime) {
  constexpr std::string_view kText = "graph main(t: f32[m,2]) { const i: i64[2] = [0, 3] y = Gather(t, i) return y }";
  check(kText, {kTable}, {Tensor::of_f32({2, 2}, std::vector<float>{1, 2, 3, 4})}, "3");
}

TEST(IndexChecks, OfAnInputIntoATableWhoseSizeDependsOnData) {
  constexpr std::string_view kText =
      "graph main(x: f32[n], i: i64[m]) { where = NonZero(x) rows = Transpose(where, perm=[1, 0]) y = Gather(rows, i) return y }";
  const auto x = [](std::vector<float> v) { return Tensor::of_f32({4}, v); };
  check(kText, {x({1, 0, 2, 3}), ids({0, 2, -3})}, {x({1, 0, 2, 0}), ids({1, 2})}, "2");
  check(kText, {x({1, 1, 2, 3}), ids({3})}, {x({0, 0, 0, 0}), ids({0})}, "0");
}

TEST(IndexChecks, OfElements) {
  constexpr std::string_view kText = "graph main(t: f32[4,2], i: i64[4,1]) { k = Add(i, i) y = GatherElements(t, k, axis=1) return y }";
  const auto column = [](std::vector<int64_t> v) { return Tensor::of_i64({4, 1}, v); };
  check(kText, {kTable, column({0, 0, 0, -1})}, {kTable, column({0, 1, 0, 0})}, "2");
}

TEST(IndexChecks, OfPlacesThatAreWritten) {
  constexpr std::string_view kText = "graph main(t: f32[4,2], i: i64[n,1], u: f32[n,2]) { k = Mul(i, i) y = ScatterND(t, k, u) return y }";
  const auto rows = [](std::vector<int64_t> v) { return Tensor::of_i64({2, 1}, v); };
  const Tensor u = Tensor::of_f32({2, 2}, std::vector<float>{9, 9, 9, 9});
  check(kText, {kTable, rows({0, 1}), u}, {kTable, rows({1, 2}), u}, "4");
}

TEST(IndexChecks, OfEachComponentOfAPlace) {
  constexpr std::string_view kText = "graph main(t: f32[4,2], i: i64[n,2]) { k = Mul(i, i) y = GatherND(t, k) return y }";
  const auto places = [](std::vector<int64_t> v) { return Tensor::of_i64({2, 2}, v); };
  check(kText, {kTable, places({1, 1, 0, -1})}, {kTable, places({1, 1, 2, 0})}, "4");
  check(kText, {kTable, places({1, 0, 0, 0})}, {kTable, places({1, 2, 0, 0})}, "4");
}

TEST(IndexChecks, OfEachComponentOfAnInput) {
  constexpr std::string_view kText = "graph main(t: f32[4,2], i: i64[n,2]) { y = GatherND(t, i) return y }";
  const auto place = [](std::vector<int64_t> v) { return Tensor::of_i64({1, 2}, v); };
  check(kText, {kTable, place({3, 1})}, {kTable, place({1, 3})}, "3");
}

// The reads are conditional (a sample may lie outside of the picture); which picture is read is not.
TEST(IndexChecks, OfConditionalReads) {
  constexpr std::string_view kText =
      "graph main(x: f32[b,1,3,3], r: f32[k,4], i: i64[k]) { y = RoiAlign(x, r, i, output_height=1, output_width=1, sampling_ratio=1) return y }";
  const Tensor x = Tensor::of_f32({2, 1, 3, 3}, std::vector<float>(18, 1)), r = Tensor::of_f32({1, 4}, std::vector<float>{0, 0, 2, 2});
  check(kText, {x, r, ids({1})}, {x, r, ids({2})}, "2");
}

// Indices that a loop computes further, or that stand for no place of their own.
TEST(IndexChecks, OfPlacesThatAreComputed) {
  const Tensor row = Tensor::of_f32({2, 1}, std::vector<float>{1, 2});
  check("graph main(x: f32[n,b], l: i64[b]) { y = ReverseSequence(x, l) return y }", {row, ids({2})}, {row, ids({3})}, "3");
  const auto places = [](int64_t place) { return Tensor::of_i64({1, 1, 1, 1}, {&place, 1}); };
  const Tensor image = Tensor::of_f32({1, 1, 1, 1}, std::vector<float>{1});
  check("graph main(x: f32[1,1,h,w], i: i64[1,1,h,w]) { k = Mul(i, i) y = MaxUnpool(x, k, kernel_shape=[2, 2], strides=[2, 2]) return y }",
        {image, places(1)}, {image, places(2)}, "4");
  const Tensor past = Tensor::of_f32({1, 4, 1}, std::vector<float>(4, 0)), fresh = Tensor::of_f32({1, 2, 1}, std::vector<float>{1, 2});
  check("graph main(p: f32[b,n,1], u: f32[b,m,1], w: i64[b]) { y = TensorScatter(p, u, w) return y }", {past, fresh, ids({2})},
        {past, fresh, ids({3})}, "3");
}

TEST(IndexChecks, LetAnEmptyListOfIndicesPass) {
  constexpr std::string_view kText = "graph main(t: f32[4,2], i: i64[n]) { k = Mul(i, i) y = Gather(t, k) return y }";
  for (int opt : {0, 3}) EXPECT_EQ(outcome(kText, {kTable, Tensor::of_i64({0}, std::vector<int64_t>{})}, opt), "");
}

}  // namespace
}  // namespace tenon::compiler
