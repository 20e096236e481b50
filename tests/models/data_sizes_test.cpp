// SPDX-License-Identifier: Apache-2.0
// Sizes that depend on data: what comes after a NonZero is as large as the elements say.
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/reference/evaluate.h"

namespace tenon::tests {
namespace {

/// Many loops between the NonZero and the result, side by side, so that their values need room of their own.
constexpr std::string_view kGraph = R"(graph main(x: f32[n,4]) {
  const w: f32[4,8] = [1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4]
  const columns: i64[1] = [1]
  const row: i64[1] = [0]
  s = ReduceSum(x, columns, keepdims=0)
  found = NonZero(s)
  index = Squeeze(found, row)
  rows = Gather(x, index)
  a = MatMul(rows, w)
  b = Softmax(a)
  c = Exp(a)
  e = Add(b, c)
  f = ReduceSum(e, columns, keepdims=1)
  g = Add(e, f)
  return g, index
}
)";

Tensor rows(int64_t n, int every) {
  Tensor x = *Tensor::make(DType::f32, {n, 4});
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < 4 && i % every == 0; ++k) x.set_number(4 * i + k, 0.001 * static_cast<double>((i + k) % 97));
  return x;
}

class DataSizes : public testing::TestWithParam<int> {};

TEST_P(DataSizes, AnswerAsTheReferenceDoes) {
  auto graph = ir::parse(kGraph, ops::table());
  ASSERT_TRUE(graph) << graph.error().text();
  compiler::CompileOptions options;
  options.opt = GetParam();
  auto compiled = compiler::compile((*graph)->clone(), options);
  ASSERT_TRUE(compiled) << compiled.error().text();
  auto engine = compiler::load_compiled(std::move(*compiled));
  ASSERT_TRUE(engine) << engine.error().text();
  auto context = *runtime::Context::create(*engine);
  for (auto [n, every] : {std::pair<int64_t, int>{1, 1}, {5000, 1}, {5000, 3}, {20000, 1}, {3, 7}}) {
    const Tensor x = rows(n, every);
    auto want = ops::evaluate(**graph, std::span(&x, 1));
    ASSERT_TRUE(want) << want.error().text();
    auto got = context->run(std::span(&x, 1));
    ASSERT_TRUE(got) << got.error().text();
    ASSERT_EQ((*got)[0].shape(), (*want)[0].shape());
    EXPECT_EQ(integers_of((*got)[1]), integers_of((*want)[1]));
    for (int64_t i = 0; i < (*want)[0].count(); ++i)
      ASSERT_NEAR((*got)[0].number(i), (*want)[0].number(i), 1e-3 * (1 + std::abs((*want)[0].number(i)))) << n << " rows, element " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Opt, DataSizes, testing::Values(0, 3));

}  // namespace
}  // namespace tenon::tests
