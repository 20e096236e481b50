// SPDX-License-Identifier: Apache-2.0
// Which states are written in place, and what the verifier says of those that must not be.
#include <gtest/gtest.h>

#include <algorithm>

#include "codegen/analysis/plan_verify.h"
#include "codegen/passes/pipeline.h"
#include "ir/text.h"
#include "ops/core/op.h"

namespace tenon::codegen {
namespace {

Result<Plan> planned(std::string_view text, PlanOptions options = {}) {
  auto graph = TRY(ir::parse(text, ops::table()));
  options.verify = true;
  auto made = plan(*graph, **target_named("x86_avx512"), options);
  static std::vector<std::unique_ptr<ir::Graph>> kept;  // sizes of a plan live in its graph
  kept.push_back(std::move(graph));
  return made;
}

Plan plan_of(std::string_view text, const PlanOptions& options = {}) {
  auto made = planned(text, options);
  EXPECT_TRUE(made) << made.error().text();
  return made ? *std::move(made) : Plan();
}

std::string wrong(const Plan& plan) {
  const PlanReport report = examine(plan);
  return report.wrong.empty() ? "" : report.wrong[0];
}

#define EXPECT_WRONG(plan, what) EXPECT_NE(wrong(plan).find(what), std::string::npos) << wrong(plan)

constexpr const char* kAppend =
    "graph(x: f32[2,n,4], past: f32[2,p,4]) { now = Concat(past, x, axis=1) y = ReduceSum(now) state k(past) = now grows 1 to 16 return y, now }";
constexpr const char* kScatter =
    "graph(x: f32[1,2,1,4], at: i64[1], k: f32[1,2,8,4]) { now = TensorScatter(k, x, at) o = ReduceMax(k) "
    "state k(k) = now return o, now }";
constexpr const char* kUpdate =
    "graph(x: f32[4,4], w: f32[4,4]) { g = MatMul(x, x) now = Sub(w, g) y = ReduceSum(w) state w(w) = now return y, now }";

TEST(AppendInPlace, WritesOnlyNewRows) {
  const Plan p = plan_of(kAppend);
  ASSERT_EQ(p.states.size(), 1u);
  EXPECT_TRUE(p.states[0].in_place);
  EXPECT_EQ(p.arrays[p.outputs[1]].strides, (DimList{64, 4, 1}));
  const auto rows = p.arrays[p.outputs[1]].shape[1];
  size_t writers = 0;
  for (const Group& g : p.groups)
    for (const Nest& n : g.nests)
      if (std::ranges::find(n.outputs, p.outputs[1], &NestOutput::array) != n.outputs.end()) {
        ++writers;
        EXPECT_TRUE(std::ranges::none_of(n.axes, [&](const ops::Axis& a) { return a.extent == rows; })) << text_of(p);
      }
  EXPECT_EQ(writers, 1u);
}

TEST(AppendInPlace, WithoutThePassTheNewValueHasMemoryOfItsOwn) {
  const Plan p = plan_of(kAppend, {.off = {"append_in_place"}});
  EXPECT_FALSE(p.states[0].in_place);
  EXPECT_FALSE(p.arrays[p.outputs[1]].growing);
}

TEST(AppendInPlace, OtherGrowingStatesKeepMemoryOfTheirOwn) {
  const Plan p =
      plan_of("graph(x: f32[2,n,4], past: f32[2,p,4]) { now = Concat(x, past, axis=1) state k(past) = now grows 1 to 16 return now }");
  EXPECT_FALSE(p.states[0].in_place);
}

TEST(AppendInPlace, VerifierFindsWritesToOldRows) {
  Plan p = plan_of(kAppend);
  for (Group& g : p.groups)
    for (Nest& n : g.nests)
      for (NestOutput& o : n.outputs)
        if (o.array == p.outputs[1]) o.index[1] = Expr::axis(1);
  // Nobody reads the old value any more: a reader of it makes the difference.
  Group reader = p.groups.back();
  for (Nest& n : reader.nests)
    for (NestAccess& a : n.accesses)
      if (a.array == p.outputs[1]) a.array = p.inputs[1];
  p.groups.push_back(reader);
  EXPECT_WRONG(p, "its old value is read after it has changed");
}

TEST(WriteInPlace, ReadersOfTheOldValueComeFirst) {
  const Plan p = plan_of(kScatter);
  EXPECT_TRUE(p.states[0].in_place) << text_of(p);
  ASSERT_EQ(p.groups.size(), 3u) << text_of(p);
  Plan late = p;
  std::swap(late.groups[0], late.groups[1]);
  EXPECT_WRONG(late, "its old value is read after it has changed");
}

TEST(WriteInPlace, MapsReadTheElementThatTheyWrite) {
  const Plan p = plan_of(kUpdate);
  EXPECT_TRUE(p.states[0].in_place) << text_of(p);
  Plan shifted = p;
  for (Group& g : shifted.groups) {
    const auto turn = [&](Nest& n) {
      if (std::ranges::find(n.outputs, shifted.outputs[1], &NestOutput::array) == n.outputs.end()) return;
      for (NestAccess& a : n.accesses)
        if (a.array == shifted.inputs[1] && a.index.size() == 2) std::swap(a.index[0], a.index[1]);
    };
    for (Nest& n : g.nests) turn(n);
    if (g.epilogue) turn(g.epilogue->map);
  }
  EXPECT_WRONG(shifted, "its old value is read after it has changed");
}

TEST(WriteInPlace, LateReaderPreventsWritingInPlace) {
  const Plan p =
      plan_of("graph(x: f32[4,4], w: f32[4,4]) { now = Sub(w, x) g = MatMul(now, x) y = MatMul(g, w) state w(w) = now return y, now }");
  EXPECT_FALSE(p.states[0].in_place) << text_of(p);
  EXPECT_EQ(wrong(p), "");
  Plan claimed = p;
  claimed.states[0].in_place = true;
  EXPECT_WRONG(claimed, "its old value is read after it has changed");
}

TEST(WriteInPlace, LateReaderOfAPartialWriteIsNamed) {
  const auto p = planned(
      "graph(x: f32[1,2,1,4], at: i64[1], k: f32[1,2,8,4]) { now = TensorScatter(k, x, at) d = Sub(now, k) @difference "
      "state k(k) = now return d, now }");
  ASSERT_FALSE(p);
  EXPECT_EQ(p.error().code(), Code::not_supported);
  EXPECT_NE(p.error().text().find("difference"), std::string::npos) << p.error().text();
}

}  // namespace
}  // namespace tenon::codegen
