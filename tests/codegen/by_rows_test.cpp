// SPDX-License-Identifier: Apache-2.0
// The order of a contraction's tasks: with many rows the first half of them computes the first half of the rows, so that a thread finds
// there what it wrote in the step before; with few, the first half of the lanes, so that it reads half of the weights. An odd panel is
// halved too.
#include <gtest/gtest.h>

#include "ir/text.h"
#include "ops/core/op.h"
#include "plan_run.h"

namespace tenon::codegen {
namespace {

constexpr int64_t kDepth = 32, kLanes = 128;

/// The product of ones [(batch,) rows, 32] and [(batch,) 32, lanes] where the first half of its tasks has run, 0 elsewhere.
std::vector<float> half_run(int64_t rows, int64_t lanes = kLanes, std::string_view batch = "") {
  const auto text = fmt::format("graph main(x: f32[{2}n,{0}], w: f32[{2}{0},{1}]) {{ y = MatMul(x, w) return y }}", kDepth, lanes, batch);
  const auto graph = ir::parse(text, ops::table());
  const auto choose = [](const Group& g, const Plan&, const Target& t) {
    return *override_fields(default_tactic(g, t), g.kind() == GroupKind::contract ? "split=2 panels=1 by_rows=112" : "", t);
  };
  const auto planned = *planned_graph(**graph, {}, **target_named("x86_avx512"), choose);
  const Kernel& kernel = planned.kernels_by_group.back().back();
  const auto known = [&](Dim d) { return substitute(d, [&](const DimNode&) { return Dim(rows); }).value(); };
  std::vector<std::vector<float>> data;
  std::vector<BoundBuffer> bound;
  size_t result = 0;
  for (ArrayId a : kernel.arguments) {
    if (a == planned.plan.outputs[0]) result = data.size();
    data.emplace_back(known(product(planned.plan.arrays[a].shape)), a == planned.plan.outputs[0] ? 0.F : 1.F);
  }
  for (auto& d : data) bound.push_back({reinterpret_cast<std::byte*>(d.data()), static_cast<int64_t>(d.size())});
  Sizes sizes;
  for (Dim d : kernel.sizes) sizes.push_back(known(d));
  const auto done = interpret(kernel.tile, bound, sizes, 0, known(kernel.tasks) / 2);
  EXPECT_TRUE(done) << done.error().text();
  return data[result];
}

TEST(ByRows, FirstTasksTakeHalfOfManyRowsOrHalfOfTheLanes) {
  const std::vector<float> many = half_run(224), few = half_run(84);
  for (int64_t row = 0; row < 224; ++row)
    for (int64_t lane = 0; lane < kLanes; ++lane) ASSERT_EQ(many[row * kLanes + lane], row < 112 ? kDepth : 0) << row << " " << lane;
  for (int64_t row = 0; row < 84; ++row)
    for (int64_t lane = 0; lane < kLanes; ++lane) ASSERT_EQ(few[row * kLanes + lane], lane < 64 ? kDepth : 0) << row << " " << lane;
}

TEST(ByRows, TasksSplitRowsBeforeTheBatch) {
  const std::vector<float> all = half_run(224, kLanes, "3,");
  for (int64_t row = 0; row < 3 * 224; ++row) ASSERT_EQ(all[row * kLanes], row % 224 < 112 ? kDepth : 0) << row;
}

TEST(ByRows, TasksSplitAnOddNumberOfPanelsEvenly) {
  const std::vector<float> half = half_run(28, 160);
  EXPECT_EQ(std::ranges::count(half, static_cast<float>(kDepth)), 14 * 160) << "two panels of 32 lanes, and one of two tiles of the third";
}

}  // namespace
}  // namespace tenon::codegen
