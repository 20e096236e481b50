// SPDX-License-Identifier: Apache-2.0
// Values whose rows stand further apart in memory than their shape says, in whole engines.
#include <gtest/gtest.h>

#include "helpers.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"

namespace tenon::compiler {
namespace {

TEST(PadRows, GivesWhatTheReferenceSays) {
  constexpr std::string_view kText =
      "graph main(x: f32[2,m,8], w: f32[8,1024], v: f32[1024,8]) { h = MatMul(x, w) r = Tanh(h) y = MatMul(r, v) return y }";
  for (int64_t m : {1, 7, 40}) {
    const std::vector<Tensor> inputs{*ops::random_tensor(DType::f32, {2, m, 8}, 1), *ops::random_tensor(DType::f32, {8, 1024}, 2),
                                     *ops::random_tensor(DType::f32, {1024, 8}, 3)};
    const auto want = ops::evaluate(**ir::parse(kText, ops::table()), inputs);
    ASSERT_TRUE(want) << want.error().text();
    const auto got = testing::compiled_results(*ir::parse(kText, ops::table()), inputs, 3);
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ(testing::difference((*want)[0], (*got)[0], 2000), "") << "m=" << m;
  }
}

}  // namespace
}  // namespace tenon::compiler
