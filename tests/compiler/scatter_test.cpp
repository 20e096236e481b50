// SPDX-License-Identifier: Apache-2.0
// Several updates of one element: the last one stays, or they are combined in their order, however the loops are ordered, split into lanes
// and handed to threads.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "helpers.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"

namespace tenon::compiler {
namespace {

Tensor places(const Sizes& shape, int64_t below) {
  std::mt19937 random(3);
  Tensor out = *Tensor::make(DType::i64, shape);
  for (int64_t i = 0; i < out.count(); ++i) out.set_integer(i, static_cast<int64_t>(random()) % below);
  return out;
}

void check(std::string_view text, const std::vector<Tensor>& inputs) {
  const auto graph = ir::parse(text, ops::table());
  ASSERT_TRUE(graph) << graph.error().text();
  const auto want = ops::evaluate(**graph, inputs);
  ASSERT_TRUE(want) << want.error().text();
  for (int opt : {0, 3}) {
    const auto got = testing::compiled_results(*ir::parse(text, ops::table()), inputs, opt);
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ(testing::difference((*want)[0], (*got)[0]), "") << "opt " << opt << "\n" << text;
  }
}

Tensor f32(Sizes shape) { return *ops::random_tensor(DType::f32, std::move(shape), 1); }

TEST(ScatterMeets, TheLastUpdateOfAnElementStays) {
  for (const auto& [axis, rows, columns] : {std::tuple(0, 900, 37), std::tuple(1, 37, 900), std::tuple(1, 400, 3)}) {
    const Sizes shape{rows, columns};
    const std::string text = "graph(x: f32[a,b], i: i64[c,d], u: f32[c,d]) { y = ScatterElements(x, i, u, axis=" + std::to_string(axis) +
                             ") z = Relu(y) s = ReduceSum(z, keepdims=1) r = Add(z, s) return r }";
    check(text, {f32(shape), places(shape, 3), f32(shape)});
  }
}

TEST(ScatterMeets, TheLastRowOfAPlaceStays) {
  constexpr std::string_view kText = "graph(x: f32[a,b], i: i64[c,d,1], u: f32[c,d,b]) { y = ScatterND(x, i, u) return y }";
  for (int64_t width : {1, 19, 300}) check(kText, {f32({5, width}), places({40, 30, 1}, 5), f32({40, 30, width})});
}

TEST(ScatterMeets, TheLastElementOfAPlaceStays) {
  constexpr std::string_view kText = "graph(x: f32[a,b], i: i64[c,2], u: f32[c]) { y = ScatterND(x, i, u) return y }";
  check(kText, {f32({3, 3}), places({5000, 2}, 3), f32({5000})});
}

// --- with a reduction: the result is that of one update after the other, to the bit

/// Numbers of which sums depend on their order.
Tensor updates(DType dtype, const Sizes& shape) { return *ops::random_tensor(dtype, shape, 7); }

/// Near 1 for products: kernels flush denormals, the reference does not.
Tensor updates(DType dtype, const Sizes& shape, std::string_view how) {
  return how == "mul" ? *ops::random_tensor(dtype, shape, 7, 0.9, 1.1) : updates(dtype, shape);
}

void combines(const std::string& text, const std::vector<Tensor>& inputs) {
  const auto graph = ir::parse(text, ops::table());
  ASSERT_TRUE(graph) << graph.error().text();
  const auto want = ops::evaluate(**graph, inputs);
  ASSERT_TRUE(want) << want.error().text();
  for (int opt : {0, 3}) {
    const auto got = testing::compiled_results(*ir::parse(text, ops::table()), inputs, opt);
    ASSERT_TRUE(got) << got.error().text();
    for (int64_t i = 0; i < (*want)[0].count(); ++i)
      ASSERT_EQ((*want)[0].number(i), (*got)[0].number(i)) << "opt " << opt << ", element " << i << "\n" << text;
  }
}

TEST(ScatterMeets, ElementsAreCombinedInTheirOrder) {
  for (const char* how : {"add", "mul", "min", "max"})
    for (const auto& [axis, rows, columns] :
         {std::tuple(0, 900, 37), std::tuple(0, 90, 130), std::tuple(1, 37, 300), std::tuple(1, 400, 3)}) {
      const Sizes shape{rows, columns};
      combines(
          fmt::format("graph(x: f32[a,b], i: i64[c,d], u: f32[c,d]) {{ y = ScatterElements(x, i, u, axis={}, reduction=\"{}\") return y }}",
                      axis, how),
          {f32(shape), places(shape, 3), updates(DType::f32, shape, how)});
    }
}

TEST(ScatterMeets, RowsAreCombinedInTheirOrder) {
  for (const char* how : {"add", "mul", "min", "max"})
    for (int64_t width : {1, 19, 64, 300})
      combines(fmt::format("graph(x: f32[a,b], i: i64[c,d,1], u: f32[c,d,b]) {{ y = ScatterND(x, i, u, reduction=\"{}\") return y }}", how),
               {f32({5, width}), places({40, 30, 1}, 5), updates(DType::f32, {40, 30, width}, how)});
}

TEST(ScatterMeets, CombinesEveryType) {
  for (const char* type : {"f16", "bf16", "f64", "i8", "u8", "i32", "i64"})
    for (const char* how : {"add", "mul", "min", "max"}) {
      const DType dtype = *dtype_named(type);
      combines(
          fmt::format("graph(x: {0}[a,b], i: i64[c,1], u: {0}[c,b]) {{ y = ScatterND(x, i, u, reduction=\"{1}\") return y }}", type, how),
          {updates(dtype, {4, 21}), places({9, 1}, 4), updates(dtype, {9, 21})});
    }
}

/// A graph network's sum over the edges of a node, with the index written out for each feature.
TEST(ScatterMeets, SumsMessagesOfEdges) {
  combines(
      "graph(x: f32[n,64], source: i64[e], target: i64[e]) { const k: i64[2] = [-1, 1] m = Gather(x, source) s = Shape(m) t = Reshape(target, k) "
      "i = Expand(t, s) z = Sub(x, x) y = ScatterElements(z, i, m, axis=0, reduction=\"add\") return y }",
      {f32({50, 64}), places({700}, 50), places({700}, 50)});
}

}  // namespace
}  // namespace tenon::compiler
