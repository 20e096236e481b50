// SPDX-License-Identifier: Apache-2.0
// A tactic's lanes are obeyed, or refused with the axes that there are.
#include <gtest/gtest.h>

#include <algorithm>

#include "codegen/passes/pipeline.h"
#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/reference/evaluate.h"
#include "plan_run.h"

namespace tenon::codegen {
namespace {

/// The one group of loops of a graph, lowered with these lanes.
Result<std::vector<Kernel>> with_lanes(std::string_view text, int lanes) {
  const auto graph = TRY(ir::parse(text, ops::table()));
  Plan planned = TRY(plan(*graph, **target_named("x86_avx512"), {}));
  const auto group = std::ranges::find(planned.groups, GroupKind::nests, &Group::kind);
  const Target& target = **target_named("x86_avx2");
  Tactic tactic = default_tactic(*group, target);
  std::get<LoopTactic>(tactic).lanes = lanes;
  return prepared_kernels(*group, tactic, planned, target);
}

std::string code(std::string_view text, int lanes) {
  const auto kernels = with_lanes(text, lanes);
  return kernels ? text_of(kernels->front().tile) : kernels.error().text();
}

/// What was refused: expected and found.
std::string refused(std::string_view text, int lanes) {
  const auto kernels = with_lanes(text, lanes);
  if (kernels) return "nothing";
  EXPECT_EQ(kernels.error().code(), Code::bad_usage);
  EXPECT_NE(kernels.error()->advice, "");
  return kernels.error()->expected + "; " + kernels.error()->found;
}

constexpr std::string_view kTurned =
    "graph main(x: f32[16,1,64], y: f32[64,1,16]) { t = Transpose(x, perm=[2,1,0]) z = Add(t, y) return z }";
constexpr std::string_view kRow = "graph main(x: f32[n,64]) { y = Softmax(x) return y }";
constexpr std::string_view kRunningSum = "graph main(x: f32[8,n]) { one = Constant(value_int=1) y = CumSum(x, one) return y }";

TEST(Lanes, TacticChoosesTheVectorisedAxis) {
  EXPECT_NE(code(kTurned, 0), code(kTurned, 2));
  EXPECT_EQ(code(kTurned, -1), code(kTurned, 2)) << "two arrays of three walk the last axis in steps of 1";
}

TEST(Lanes, RefusesAnAxisOfOnePointAndAnUnknownAxis) {
  EXPECT_EQ(refused(kTurned, 1), "lanes=-1, or one of 0, 2; lanes=1");
  EXPECT_EQ(refused(kTurned, 3), "lanes=-1, or one of 0, 2; lanes=3");
  EXPECT_EQ(refused(kTurned, 1 << 30), "lanes=-1, or one of 0, 2; lanes=1073741824");
}

TEST(Lanes, RefusesAScannedAxis) {
  EXPECT_EQ(refused(kRunningSum, 1), "lanes=-1, or one of 0; lanes=1");
  EXPECT_EQ(code(kRunningSum, 0), code(kRunningSum, -1));
}

TEST(Lanes, RefusesAnAxisForLoopsThatShareAKernel) { EXPECT_EQ(refused(kRow, 0), "lanes=-1; lanes=0"); }

}  // namespace
}  // namespace tenon::codegen
