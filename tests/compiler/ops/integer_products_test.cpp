// SPDX-License-Identifier: Apache-2.0
// Gemm of integers: the sum of products wraps; factors other than 1 scale it in f64, and what does not fit is the nearest value that does.
// The reference and the compiled graph agree to the bit.
#include <gtest/gtest.h>

#include "helpers.h"
#include "ops/reference/evaluate.h"

namespace tenon::compiler::testing {
namespace {

struct Case {
  const char* title;
  const char* attributes;
  std::vector<int64_t> a, b;  // of one row, of one column
  int64_t c;
  int64_t want;
};

Tensor integers(DType dtype, Sizes shape, const std::vector<int64_t>& values) {
  Tensor t = *Tensor::make(dtype, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i) t.set_integer(static_cast<int64_t>(i), values[i]);
  return t;
}

TEST(IntegerProducts, WrapInTheSumAndSaturateWhereTheyAreScaled) {
  constexpr int64_t k30 = int64_t{1} << 30;
  const Case cases[] = {
      {"halves are added before they are cut", "alpha=0.5, beta=0.5", {1, 1}, {1, 2}, 1, 2},
      {"the sum wraps to 2^31 - 2^32", "alpha=1.0", {k30, k30}, {1, 1}, 0, INT32_MIN},
      {"the sum wraps before it is scaled", "alpha=0.5", {k30, k30}, {1, 1}, 0, -k30},
      {"C wraps", "alpha=1.0", {k30, k30 - 1}, {1, 1}, 1, INT32_MIN},
      {"a scaled sum saturates", "alpha=4.0", {k30, 0}, {1, 1}, 0, INT32_MAX},
      {"a scaled C saturates", "beta=-8.0", {0, 0}, {1, 1}, k30, INT32_MIN},
      {"a factor of 0 leaves C out", "beta=0.0", {1, 2}, {3, 4}, 7, 11},
  };
  for (const Case& c : cases) {
    const std::string text =
        fmt::format("graph main(a: i32[1,2], b: i32[2,1], c: i32[1]) {{ y = Gemm(a, b, c, {}) return y }}", c.attributes);
    const std::vector<Tensor> inputs = {integers(DType::i32, {1, 2}, c.a), integers(DType::i32, {2, 1}, c.b),
                                        integers(DType::i32, {1}, {c.c})};
    auto graph = ir::parse(text, ops::table());
    ASSERT_TRUE(graph) << graph.error().text();
    const auto want = ops::evaluate(**graph, inputs);
    ASSERT_TRUE(want) << want.error().text();
    EXPECT_EQ((*want)[0].integer(0), c.want) << c.title;
    for (int opt : {0, 1, 3}) {
      const auto got = compiled_results(std::move(*ir::parse(text, ops::table())), inputs, opt);
      ASSERT_TRUE(got) << got.error().text();
      EXPECT_EQ((*got)[0].integer(0), c.want) << c.title << ", opt " << opt;
    }
  }
}

}  // namespace
}  // namespace tenon::compiler::testing
