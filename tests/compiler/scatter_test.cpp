// SPDX-License-Identifier: Apache-2.0
// Several updates of one element: the last one stays, however the loops are ordered, split into lanes and handed to threads.
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

}  // namespace
}  // namespace tenon::compiler
