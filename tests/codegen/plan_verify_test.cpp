// SPDX-License-Identifier: Apache-2.0
// What is wrong with a plan is said, each thing by its name; what is right is proved, for the plans of every op's samples.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "codegen/analysis/plan_verify.h"
#include "codegen/passes/pipeline.h"
#include "codegen/plan/plan_options.h"
#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/core/sample.h"

#include "../segments.h"

namespace tenon::codegen {
namespace {

Plan plan_of(std::string_view text) {
  auto graph = ir::parse(text, ops::table());
  EXPECT_TRUE(graph) << graph.error().text();
  const std::vector<ir::Segment> segments = tests::nodes_alone(**graph);
  auto made = plan(**graph, **target_named("x86_avx512"), {.segments = segments});
  EXPECT_TRUE(made) << made.error().text();
  static std::vector<std::unique_ptr<ir::Graph>> kept;  // sizes of a plan live in its graph
  kept.push_back(std::move(*graph));
  return std::move(*made);
}

/// The first thing that is wrong; empty where nothing is.
std::string wrong(const Plan& plan) {
  const PlanReport report = examine(plan);
  return report.wrong.empty() ? "" : report.wrong[0];
}

#define EXPECT_WRONG(plan, what) EXPECT_NE(wrong(plan).find(what), std::string::npos) << wrong(plan)

Plan linear() { return plan_of("graph main(x: f32[n,64], w: f32[64,128], b: f32[128]) { h = MatMul(x, w) y = Add(h, b) return y }"); }
Plan chain() { return plan_of("graph main(x: f32[n,8]) { s = Softmax(x) c = Concat(s, x, axis=0) r = Softmax(c, axis=0) return r }"); }

TEST(PlanVerify, FindsNothingWrongWithWhatPlanningMakes) {
  EXPECT_EQ(wrong(linear()), "");
  EXPECT_EQ(wrong(chain()), "");
  EXPECT_TRUE(examine(linear()).unproved.empty());
  EXPECT_EQ(examine(linear()).accesses, 6);
}

TEST(PlanVerify, ChecksRolesOfContractions) {
  Plan p = linear();
  p.groups[0].as<ContractGroup>().contraction.reset();
  EXPECT_WRONG(p, "roles of another nest");
  p = linear();
  std::swap(p.groups[0].contraction()->rows_operand, p.groups[0].contraction()->lanes_operand);
  EXPECT_WRONG(p, "roles of another nest");
  p = linear();
  p.groups[0].nests[0].accesses[0].index[1] = binary(ExprOp::mod, Expr::axis(2), Expr::integer(DType::i64, 7));
  EXPECT_WRONG(p, "roles of another nest");
}

/// A convolution in tiles, of which some are summed up plainly.
Plan conditional() {
  std::string zeros = "0";
  for (int k = 1; k < 16 * 16 * 9; ++k) zeros += ",0";
  return plan_of("graph main(x: f32[1,16,64,64]) { const w: f32[16,16,3,3] = [" + zeros + "] y = Conv(x, w, pads=[1,1,1,1]) return y }");
}

TEST(PlanVerify, ScalesOfValuesAreOneNumberARow) {
  const auto scaled_by = [](int access, bool in_order) {
    Plan p = plan_of(
        "graph main(q: f32[b,2,s,16], k: f32[b,2,t,16], v: f32[b,2,t,16], m: f32[s,t], r: f32[t]) "
        "{ n = Add(m, r) y = Attention(q, k, v, n) return y }");
    p.sums_in_order = in_order;
    p.groups.back().as<AttentionGroup>().value_scale = access;
    return p;
  };
  const Plan plain = scaled_by(-1, true);
  EXPECT_EQ(wrong(plain), "");
  const auto& accesses = plain.groups.back().nests[0].accesses;
  ASSERT_EQ(accesses.size(), 5u) << "mask and row are added inside";
  const int row = accesses[3].index.size() == 1 ? 3 : 4;
  EXPECT_EQ(wrong(scaled_by(row, true)), "");
  EXPECT_WRONG(scaled_by(7 - row, true), "differs within a row of values");
  EXPECT_WRONG(scaled_by(5, true), "no operand");
  EXPECT_WRONG(scaled_by(row, false), "kernels do not scale");
}

TEST(PlanVerify, ConditionsAreBoolsOverParallelAxes) {
  const Plan right = conditional();
  EXPECT_EQ(wrong(right), "");
  size_t at = 0;
  while (at < right.groups.size() && (right.groups[at].nests.empty() || right.groups[at].nests[0].condition < 0)) ++at;
  ASSERT_LT(at, right.groups.size()) << text_of(right);
  EXPECT_NE(text_of(right).find("where x"), std::string::npos);
  Plan p = right;
  p.groups[at].nests[0].condition = 1000;
  EXPECT_WRONG(p, "a condition that is no load of the nest");
  p = right;
  p.groups[at].nests[0].condition = 0;
  EXPECT_WRONG(p, "a condition that is no bool everywhere");
  p = right;
  p.groups[at].nests[0].axes[1].kind = ops::Axis::Kind::reduced;
  EXPECT_WRONG(p, "a condition that a reduced axis walks");
}

TEST(PlanVerify, ChecksAccumulatorsOfEpilogues) {
  Plan p = linear();
  p.groups[0].epilogue->accumulator = 1 - p.groups[0].epilogue->accumulator;
  EXPECT_WRONG(p, "an epilogue of something else");
}

TEST(PlanVerify, FollowsWhatDependsOnWhat) {
  Plan p = chain();
  ASSERT_GT(p.groups.size(), 1u);
  std::swap(p.groups.front(), p.groups.back());
  EXPECT_WRONG(p, "a read before");
  p = linear();
  p.groups.clear();
  EXPECT_WRONG(p, "a result that nothing makes");
}

TEST(PlanVerify, KeepsEveryAccessInsideItsArray) {
  Plan p = plan_of("graph main(x: f32[4,64], w: f32[64,128]) { y = MatMul(x, w) return y }");
  p.groups[0].nests[0].accesses[1].index[1] = Expr::axis(1) + Expr::integer(DType::i64, 128);
  EXPECT_WRONG(p, "dimension 1, add(i1, 128) in 128..255 of 128");
  p = linear();  // n may be 0: then nothing runs
  NestAccess& rows = p.groups[0].nests[0].accesses[0];
  rows.index[0] = Expr::axis(0) + Expr::integer(DType::i64, 1);
  ASSERT_EQ(examine(p).unproved.size(), 1u);
  EXPECT_NE(examine(p).unproved[0].find("dimension 0, add(i0, 1) in 1..n of n"), std::string::npos) << examine(p).unproved[0];
  rows.within = rows.index[0] < Expr::dim(p.arrays[rows.array].shape[0]);
  rows.fill = Expr::constant(DType::f32, 0);
  EXPECT_TRUE(examine(p).unproved.empty());
}

TEST(PlanVerify, CountsTheHaloOfAnArray) {
  Plan p = linear();
  p.arrays[0].halo.before = {1};
  EXPECT_WRONG(p, "a halo of another rank");
  p.arrays[0].halo = {{0, 0}, {0, 1}};
  p.arrays[0].strides = strides_of(p.arrays[0]);
  EXPECT_WRONG(p, "a memory order that others do not expect");
  p = plan_of(R"(graph main(x: f32[2,2,6,5], k: f32[4,2,1,1], w: f32[3,4,3,3], u: f32[2,3,1,1]) {
    a = Conv(x, k)
    b = Conv(a, w, pads=[1, 1, 1, 1])
    y = Conv(b, u)
    return y
  })");
  EXPECT_EQ(wrong(p), "");
  EXPECT_TRUE(examine(p).unproved.empty());
  const auto image = std::ranges::find_if(p.arrays, [](const Array& a) { return !a.halo.empty(); });
  ASSERT_NE(image, p.arrays.end());
  image->halo.before[2] = 0;
  image->strides = strides_of(*image);
  EXPECT_WRONG(p, "dimension 2, sub(i1, 1) in -1..-1 of 7");
}

TEST(PlanVerify, ChecksStridesOrdersAndSharedBytes) {
  Plan p = linear();
  p.arrays[0].strides[0] = 1;
  EXPECT_WRONG(p, "strides that are not those of its order");
  p = linear();
  p.arrays[0].order = {1, 0};
  p.arrays[0].strides = strides_in_order(p.arrays[0].shape, p.arrays[0].order);
  EXPECT_WRONG(p, "a memory order that others do not expect");
  p = linear();
  p.arrays[0].order = {0, 0};
  EXPECT_WRONG(p, "a memory order that is no permutation");
  p = linear();
  p.arrays[1].same_bytes = 2;
  EXPECT_WRONG(p, "shared bytes of another count");
  p.arrays[1].same_bytes = 1;
  EXPECT_WRONG(p, "bytes of an array that shares its own");
}

TEST(PlanVerify, TakesWhatIsAssumedOfSizes) {
  using Kind = ir::Assumption::Kind;
  Plan p = plan_of("graph main(x: f32[n], y: f32[m]) { a = Exp(x) b = Exp(y) return a, b }");
  Nest& first = p.groups[0].nests[0];
  const Dim n = p.arrays[p.inputs[0]].shape[0], m = p.arrays[p.inputs[1]].shape[0];
  first.accesses[0].array = p.inputs[1];  // y, over the n steps of x
  EXPECT_EQ(examine(p).unproved.size(), 1u);
  for (const auto& [kind, a, b, proves] : {std::tuple(Kind::equal, n, m, true), std::tuple(Kind::at_least, m, n, true),
                                           std::tuple(Kind::at_least, n, m, false), std::tuple(Kind::spreads, m, n, false)}) {
    p.assumptions = {{kind, a, b, "", ""}};
    EXPECT_EQ(examine(p).unproved.empty(), proves) << p.assumptions[0].text();
  }
  first.accesses[0].index[0] = Expr::axis(0) * Expr::dim(select(equal_to(m, 1), 0, 1));
  p.assumptions = {{Kind::spreads, m, n, "", ""}};
  EXPECT_TRUE(examine(p).unproved.empty());
}

/// Over the samples of all ops, with symbolic sizes, after each pass.
TEST(PlanVerify, ProvesWhatPlansOfAllOpsRead) {
  int64_t accesses = 0, unproved = 0, plans = 0;
  std::vector<std::string> seen;
  for (const ops::OpDef* def : ops::all_ops()) {
    for (std::string_view text : def->samples) {
      const auto sample = ops::parse_sample(*def, text);
      auto made = sample ? ops::build_sample(*def, *sample, 1, true, true) : std::unexpected(sample.error());
      if (!made) continue;
      PlanOptions options;
      options.verify = true;
      const std::vector<ir::Segment> segments = tests::nodes_alone(*made->graph);
      options.segments = segments;
      const auto planned = plan(*made->graph, **target_named("x86_avx512"), options);
      if (!planned && planned.error().code() == Code::not_supported) continue;
      ASSERT_TRUE(planned) << planned.error().text() << "\n" << ir::print(*made->graph);
      const PlanReport report = examine(*planned, made->graph.get());
      ++plans;
      accesses += report.accesses;
      unproved += static_cast<int64_t>(report.unproved.size());
      for (const std::string& u : report.unproved) seen.push_back(std::string(def->name) + " " + std::string(text) + ": " + u);
    }
  }
  EXPECT_GT(plans, 500);
  if (std::getenv("TENON_UNPROVED"))
    for (const std::string& u : seen) std::puts(u.c_str());
  RecordProperty("accesses", static_cast<int>(accesses));
  RecordProperty("unproved", static_cast<int>(unproved));
  std::printf("%ld plans, %ld accesses, %ld unproved\n", static_cast<long>(plans), static_cast<long>(accesses),
              static_cast<long>(unproved));
}

}  // namespace
}  // namespace tenon::codegen
