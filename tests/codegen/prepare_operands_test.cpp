// SPDX-License-Identifier: Apache-2.0
// What planning leaves before prepare_operands and after it, as text; and that lowering changes nothing of that.
#include "codegen/prepare/prepare_operands.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <type_traits>

#include "codegen/lower/kernel.h"
#include "codegen/passes/pipeline.h"
#include "ir/text.h"
#include "ops/core/op.h"
#include "plan_run.h"

namespace tenon::codegen {
namespace {

// The type keeps planning before lowering: a lowering that adds an array does not compile.
using LowerGroup = Result<std::vector<Kernel>>(const Group&, const Tactic&, const Plan&, const Target&);
static_assert(std::is_same_v<decltype(lower_group), LowerGroup>);
static_assert(std::is_same_v<decltype(lower_contract), Result<Kernel>(const Group&, const ContractTactic&, const Plan&, const Target&)>);

struct Prepared {
  std::unique_ptr<ir::Graph> graph;
  Plan before;
  PreparedPlan after;
};

Prepared prepared(std::string_view text, std::string_view contract_tactic = "", PlanOptions options = {}) {
  Prepared out;
  auto graph = ir::parse(text, ops::table());
  EXPECT_TRUE(graph) << graph.error().text();
  out.graph = *std::move(graph);
  options.verify = true;
  const Target& target = **target_named("x86_avx512");
  out.before = *plan(*out.graph, target, options);
  std::vector<Tactic> tactics;
  for (const Group& g : out.before.groups) {
    const bool changes = g.kind() == GroupKind::contract && !contract_tactic.empty();
    tactics.push_back(changes ? *override_fields(default_tactic(g, target), contract_tactic, target) : default_tactic(g, target));
  }
  auto after = prepare_operands(out.before, std::move(tactics), target, options);
  EXPECT_TRUE(after) << after.error().text();
  if (after) out.after = *std::move(after);
  return out;
}

/// Kinds of the groups; what fills an operand is a copy.
std::string kinds(const Plan& plan) {
  std::string out;
  for (const Group& g : plan.groups) {
    const char* kind = g.kind() == GroupKind::contract ? "contract" : g.kind() == GroupKind::attention ? "attention" : "loops";
    out += (out.empty() ? "" : " ") + std::string(g.is_auxiliary() ? "copy" : kind);
  }
  return out;
}

const Group& contraction_in(const Plan& plan) { return *std::ranges::find(plan.groups, GroupKind::contract, &Group::kind); }
const Array& panels_in(const Plan& plan) { return plan.arrays[contraction_in(plan).as<ContractGroup>().panels]; }

constexpr std::string_view kProduct = "graph main(x: f32[n,64], w: f32[64,96]) { y = MatMul(x, w) return y }";

TEST(PrepareOperands, ComputedPanelsAreFilledByACopyBeforeTheirReader) {
  const Prepared p = prepared(kProduct);
  EXPECT_EQ(kinds(p.before), "contract");
  EXPECT_EQ(kinds(p.after.plan), "copy contract");
  const Group& copy = p.after.plan.groups[0];
  EXPECT_EQ(copy.nests[0].outputs[0].array, contraction_in(p.after.plan).as<ContractGroup>().panels);
  EXPECT_EQ(copy.node, contraction_in(p.after.plan).node);
  EXPECT_EQ(text_of(p.after.tactics[0]), text_of(Tactic(default_loop_tactic())));
  EXPECT_EQ(text_of(panels_in(p.after.plan).shape), "[3, 64, 32]");
}

TEST(PrepareOperands, WritesTheCopyIntoThePlan) {
  const Prepared p = prepared(kProduct);
  EXPECT_EQ(text_of(p.before), R"(plan
  v0: f32[n, 64] fixed
  v1: f32[64, 96] fixed
  v2: f32[n, 96] fixed
  inputs v0, v1
  outputs v2
contract
  for n, 96, +64
    x0 = v0[i0, i2]
    x1 = v1[i2, i1]
    v2[i0, i1] = sum of mul(x0, x1)
)");
  EXPECT_EQ(text_of(p.after.plan), R"(plan
  v0: f32[n, 64] fixed
  v1: f32[64, 96] fixed
  v2: f32[n, 96] fixed
  t3: f32[3, 64, 32]
  inputs v0, v1
  outputs v2
nests of product
  for 3, 64, 32
    x0 = v1[i1, add(mul(i0, 32), i2)]
    t3[i0, i1, i2] = x0
contract panels t3
  for n, 96, +64
    x0 = v0[i0, i2]
    x1 = v1[i2, i1]
    v2[i0, i1] = sum of mul(x0, x1)
)");
}

TEST(PrepareOperands, TacticDecidesTheWidthOfPanels) {
  EXPECT_EQ(text_of(panels_in(prepared(kProduct, "tile=4x1").after.plan).shape), "[6, 64, 16]");
}

TEST(PrepareOperands, ConstantPanelsNeedNoGroup) {
  const Prepared p = prepared("graph main(x: f32[n,64]) { " + weights("w", {64, 96}) + " y = MatMul(x, w) return y }");
  EXPECT_EQ(kinds(p.after.plan), "contract");
  EXPECT_TRUE(panels_in(p.after.plan).constant);
  EXPECT_EQ(text_of(panels_in(p.after.plan).shape), "[1, 3, 64, 32]");
}

TEST(PrepareOperands, RowsThatLeaveTheirImageAreReadFromAPaddedCopy) {
  const Prepared p = prepared("graph main(x: f32[n,3,8,8], w: f32[20,3,5,5]) { y = Conv(x, w, pads=[2,2,2,2]) return y }", "",
                              {.off = {"add_halos", "winograd", "copy_images", "choose_layouts"}});
  const Nest &before = contraction_in(p.before).nests[0], &after = contraction_in(p.after.plan).nests[0];
  const auto leaves = [](const NestAccess& a) { return bool(a.within); };
  EXPECT_TRUE(std::ranges::any_of(before.accesses, leaves)) << text_of(p.before);
  EXPECT_FALSE(std::ranges::any_of(after.accesses, leaves)) << text_of(p.after.plan);
  EXPECT_EQ(kinds(p.after.plan), "copy copy copy contract") << text_of(p.after.plan);
}

TEST(PrepareOperands, ConstantsLieAlongTheLanesOfLoops) {
  const Prepared p =
      prepared("graph main(x: f32[n,96,64]) { " + weights("c", {64, 96}) + " t = Transpose(c, perm=[1,0]) y = Mul(x, t) return y }");
  EXPECT_EQ(kinds(p.after.plan), "loops");
  const auto constant_in = [](const Plan& plan) {
    for (const NestAccess& a : plan.groups[0].nests[0].accesses)
      if (plan.arrays[a.array].constant) return text_of(plan.arrays[a.array].shape);
    return std::string();
  };
  EXPECT_EQ(constant_in(p.before), "[64, 96]");
  EXPECT_EQ(constant_in(p.after.plan), "[96, 64]");
}

TEST(PrepareOperands, PartsOfKeysGetArrays) {
  const auto sums = [](std::string_view heads) {
    const Prepared p = prepared(
        fmt::format("graph main(q: f32[b,{0},s,16], k: f32[b,{0},t,16], v: f32[b,{0},t,16]) {{ y = Attention(q, k, v) return y }}", heads));
    const Group& attention = *std::ranges::find(p.after.plan.groups, GroupKind::attention, &Group::kind);
    return attention.as<AttentionGroup>().part_sums;
  };
  EXPECT_GE(sums("2"), 0);
  EXPECT_EQ(sums("12"), -1) << "tasks are enough";
}

TEST(PrepareOperands, KeepsThePlanWhereKernelsReadEverythingWhereItIs) {
  const Prepared p = prepared("graph main(x: f32[n,64]) { y = Softmax(x) z = Exp(x) return y, z }");
  EXPECT_EQ(text_of(p.before), text_of(p.after.plan));
  EXPECT_EQ(p.before.arrays.size(), p.after.plan.arrays.size());
}

}  // namespace
}  // namespace tenon::codegen
