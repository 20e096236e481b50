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
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"
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

/// Runs the graph by what prepare_operands leaves of its plan; "n" is 5.
void matches_reference(std::string_view text) {
  const auto graph = ir::parse(text, ops::table());
  ASSERT_TRUE(graph) << graph.error().text();
  std::vector<Tensor> inputs;
  for (const ir::ValueId v : (*graph)->inputs()) {
    const ir::Type& type = (*graph)->value(v).type;
    Sizes sizes;
    for (const Dim d : *type.shape) sizes.push_back(substitute(d, [](const DimNode&) { return Dim(5); }).value());
    inputs.push_back(*ops::random_tensor(type.dtype, sizes, inputs.size() + 1));
  }
  const auto want = ops::evaluate(**graph, inputs);
  ASSERT_TRUE(want) << want.error().text();
  const auto planned = planned_graph(**graph, {.verify = true}, **target_named("x86_avx512"));
  ASSERT_TRUE(planned) << planned.error().text();
  const auto got = run(*planned, inputs);
  ASSERT_TRUE(got) << got.error().text();
  for (int64_t i = 0; i < (*want)[0].count(); ++i)
    ASSERT_NEAR((*want)[0].number(i), (*got)[0].number(i), 1e-4) << "element " << i << "\n" << text_of(planned->plan);
}

/// "c" without its last row, in place of which there is padding, as "part".
constexpr std::string_view kPaddedPart = R"(
  const first: i64[1] = [0]
  const last: i64[1] = [-1]
  const pads: i64[4] = [0, 0, 1, 0]
  short = Slice(c, first, last)
  part = Pad(short, pads)
)";

TEST(PrepareOperands, PaddingOfAConstantIsNotPackedAsItsRow) {
  matches_reference("graph main(x: f32[n,8]) { " + weights("c", {8, 16}).append(kPaddedPart) + " y = MatMul(x, part) return y }");
}

/// A part of a constant is packed in each run, as what an epilogue reads side by side: the registers of both columns in alternation.
TEST(PrepareOperands, PanelsOfColumnsAlternate) {
  const std::string text = "graph main(x: f32[n,8]) { " + weights("c", {9, 96}) + R"(
    const first: i64[1] = [1]
    const last: i64[1] = [9]
    w = Slice(c, first, last)
    h = MatMul(x, w)
    a, b = Split(h, axis=1, num_outputs=2)
    s = Sigmoid(a)
    y = Mul(s, b)
    return y
  })";
  matches_reference(text);
  const Prepared p = prepared(text);
  EXPECT_EQ(kinds(p.before), "contract");
  EXPECT_EQ(kinds(p.after.plan), "copy contract");
}

/// The axis along the lanes is in the middle of the constant, and two of its axes.
TEST(PrepareOperands, OtherAxesOfConstantsKeepTheirOrder) {
  const auto constant_in = [](std::string_view text) {
    const Prepared p = prepared(text);
    for (const NestAccess& a : p.after.plan.groups.back().nests[0].accesses)
      if (p.after.plan.arrays[a.array].constant) return text_of(p.after.plan.arrays[a.array].shape);
    return std::string();
  };
  const std::string c = weights("c", {2, 24, 6});
  EXPECT_EQ(constant_in("graph main(x: f32[n,2,6,24]) { " + c + " t = Transpose(c, perm=[0,2,1]) y = Mul(x, t) return y }"), "[2, 6, 24]");
  const std::string d = weights("d", {4, 8, 6});
  EXPECT_EQ(constant_in("graph main(x: f32[n,6,4,8]) { " + d + " t = Transpose(d, perm=[2,0,1]) y = Mul(x, t) return y }"), "[6, 4, 8]");
}

/// Shapes between which no index is an index of the other: the constant is read by element number before.
TEST(PrepareOperands, ReshapedConstantsAreTransposed) {
  const std::string text = "graph main(x: f32[n,12,8]) { " + weights("c", {12, 8}) +
                           " const s: i64[2] = [8, 12] r = Reshape(c, s) t = Transpose(r, perm=[1,0]) y = Mul(x, t) return y }";
  matches_reference(text);
  const Prepared p = prepared(text);
  const auto by_number = [](const NestAccess& a) { return bool(a.flat); };
  EXPECT_TRUE(std::ranges::any_of(p.before.groups.back().nests[0].accesses, by_number)) << text_of(p.before);
  EXPECT_FALSE(std::ranges::any_of(p.after.plan.groups.back().nests[0].accesses, by_number)) << text_of(p.after.plan);
}

TEST(PrepareOperands, OtherLoopsReadTheirPaddingByTheirCondition) {
  const Prepared p = prepared("graph main(x: f32[n,3,8,8]) { y = AveragePool(x, kernel_shape=[3,3], pads=[1,1,1,1]) return y }");
  EXPECT_EQ(text_of(p.before), text_of(p.after.plan));
}

/// Values whose elements do not lie side by side, or fill no whole registers; these are read by element number.
TEST(PrepareOperands, AttentionReadsACopyOfItsValues) {
  constexpr std::string_view kTurned = R"(graph main(q: f32[1,2,n,8], k: f32[1,2,12,8], x: f32[1,2,16,12]) {
    v = Transpose(x, perm=[0,1,3,2])
    y = Attention(q, k, v)
    return y
  })";
  constexpr std::string_view kByNumber = R"(graph main(q: f32[1,2,n,8], k: f32[1,2,12,8], x: f32[8,21]) {
    const shape: i64[4] = [1, 2, 12, 7]
    v = Reshape(x, shape)
    y = Attention(q, k, v)
    return y
  })";
  for (const std::string_view text : {kTurned, kByNumber}) {
    matches_reference(text);
    EXPECT_EQ(kinds(prepared(text).after.plan), "copy attention");
  }
}

/// Those of all sequences are one array.
TEST(PrepareOperands, RaggedAttentionReadsOneCopyOfItsValues) {
  const Prepared p = prepared(R"(graph main(q: f32[n,2,8], k: f32[m,2,8], v: f32[m,2,7], a: i64[c], b: i64[c], cut: f32[l]) {
    const none: i64[1] = [0]
    size = Shape(cut)
    longest = Squeeze(size, none)
    y = tenon::RaggedAttention(q, k, v, a, b, longest)
    return y
  })");
  ASSERT_EQ(kinds(p.after.plan), "copy attention") << text_of(p.after.plan);
  EXPECT_EQ(text_of(p.after.plan.arrays[p.after.plan.groups[0].nests[0].outputs[0].array].shape), "[2, m, 16]");
}

/// How many masks attention of four queries and four keys reads.
size_t masks_read(std::string_view constants, std::string_view mask = "c") {
  const std::string text = fmt::format(
      "graph main(q: f32[1,1,4,8], k: f32[1,1,4,8], v: f32[1,1,4,16], b: f32[4,4]) {{ {} y = Attention(q, k, v, {}) return y }}", constants,
      mask);
  matches_reference(text);
  const Prepared p = prepared(text);
  return std::ranges::find(p.after.plan.groups, GroupKind::attention, &Group::kind)->nests[0].accesses.size() - 3;
}

TEST(PrepareOperands, MasksByDistanceAreComputed) {
  constexpr std::string_view kCausal = "const c: f32[4,4] = [0,-inf,-inf,-inf, 0,0,-inf,-inf, 0,0,0,-inf, 0,0,0,0] ";
  EXPECT_EQ(masks_read(kCausal), 0u);
  EXPECT_EQ(masks_read("const c: bool[4,4] = [1,1,0,0, 1,1,1,0, 1,1,1,1, 1,1,1,1]"), 0u);
  EXPECT_EQ(masks_read(std::string(kCausal) + "m = Add(c, b)", "m"), 1u) << "the other mask";
}

TEST(PrepareOperands, OtherMasksAreRead) {
  EXPECT_EQ(masks_read("const c: bool[4,4] = [1,1,0,0, 1,1,1,0, 1,0,1,1, 1,1,1,1]"), 1u) << "a key that is nearer";
  const std::string earlier = "const c: f32[4,4] = [-1e31,-1e31,-1e31,-1e31, 0,-1e31,-1e31,-1e31, 0,0,-1e31,-1e31, 0,0,0,-1e31] ";
  EXPECT_EQ(masks_read(earlier), 0u);
  EXPECT_EQ(masks_read(earlier + std::string(kPaddedPart), "part"), 1u) << "the last row is padding";
  EXPECT_EQ(masks_read("const c: f32[4,4] = [-2e31,-1e31,-1e31,-1e31, 0,-1e31,-1e31,-1e31, 0,0,-1e31,-1e31, 0,0,0,-1e31]"), 1u)
      << "the first query sees no key, and has the best of them";
}

}  // namespace
}  // namespace tenon::codegen
