// SPDX-License-Identifier: Apache-2.0
// Conditions of loads that become limits of loops.
#include <gtest/gtest.h>

#include "codegen/analysis/nest_properties.h"
#include "codegen/lower/step_limits.h"
#include "codegen/passes/pipeline.h"
#include "codegen/plan/plan.h"
#include "ir/text.h"
#include "ops/core/op.h"

namespace tenon::codegen {
namespace {

/// The first loop that reads under a condition.
Nest nest_of(std::string_view text) {
  auto graph = ir::parse(text, ops::table());
  EXPECT_TRUE(graph) << graph.error().text();
  auto made = plan(**graph, **target_named("x86_avx512"), {.fuse = false, .channels_last = false, .outer_symbols = {}});
  EXPECT_TRUE(made) << made.error().text();
  for (const Group& g : made->groups)
    for (const Nest& n : g.nests)
      for (const NestAccess& a : n.accesses)
        if (a.within) return n;
  ADD_FAILURE() << "no loop reads under a condition";
  return {};
}

constexpr std::string_view kMaxPool =
    "graph main(x: f32[1,8,6,6]) { y = MaxPool(x, kernel_shape=[3,3], pads=[1,1,1,1], dilations=[2,1], strides=[1,2]) return y }";

const auto kAll = [](int) { return true; };

TEST(StepLimits, BoundsOfPoolingWindowsBecomeLimits) {
  Nest nest = nest_of(kMaxPool);  // axes: batch, channel, row, column, row and column of the window
  const StepLimits limits = take_step_limits(nest, 1, kAll);
  EXPECT_FALSE(nest.accesses[0].within);
  ASSERT_EQ(limits[4].size(), 2u);
  ASSERT_EQ(limits[5].size(), 2u);
  // 0 <= row + 2 * i - 1 < 6
  EXPECT_EQ(limits[4][0].coefficients[2], Dim(1));
  EXPECT_EQ(limits[4][0].coefficients[4], Dim(2));
  EXPECT_EQ(limits[4][0].offset, Dim(-1));
  EXPECT_EQ(limits[4][1].coefficients[4], Dim(-2));
  EXPECT_EQ(limits[4][1].offset, Dim(6));
}

TEST(StepLimits, BoundsOfTheVectorisedAxisStayConditions) {
  Nest nest = nest_of(kMaxPool);
  const StepLimits limits = take_step_limits(nest, 3, kAll);
  EXPECT_EQ(limits[4].size(), 2u);
  EXPECT_TRUE(limits[5].empty());
  ASSERT_TRUE(nest.accesses[0].within);
  EXPECT_FALSE(mentions(nest.accesses[0].within, ExprOp::axis, 4));
  EXPECT_TRUE(mentions(nest.accesses[0].within, ExprOp::axis, 5));
}

TEST(StepLimits, UnrolledAxesGetNoLimits) {
  Nest nest = nest_of(kMaxPool);
  const StepLimits limits = take_step_limits(nest, -1, [](int axis) { return axis != 5; });
  EXPECT_EQ(limits[4].size(), 2u);
  EXPECT_TRUE(limits[5].empty());
}

/// A step outside adds 1: the fill is no neutral element.
TEST(StepLimits, ConditionsWithANonNeutralFillStay) {
  Nest nest = nest_of(
      "graph main(x: f32[8,6]) { const p: i64[4] = [0, 1, 0, 1] const one: f32[] = 1 const axes: i64[1] = [1] "
      "a = Pad(x, p, one) y = ReduceSum(a, axes) return y }");
  nest.axes.back().kind = ops::Axis::Kind::reduced;
  nest.outputs[0].combine = ops::Combine::sum;
  for (const auto& of_axis : take_step_limits(nest, -1, kAll)) EXPECT_TRUE(of_axis.empty());
  nest.accesses[0].fill = Expr::constant(DType::f32, 0);
  EXPECT_FALSE(take_step_limits(nest, -1, kAll).back().empty());
}

}  // namespace
}  // namespace tenon::codegen
