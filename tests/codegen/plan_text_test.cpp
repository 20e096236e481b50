// SPDX-License-Identifier: Apache-2.0
// Plans print, parse and print the same, and give the same kernels; texts that state no plan are errors with their place.
#include "codegen/plan/text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <unordered_map>

#include "../segments.h"
#include "codegen/analysis/contraction.h"
#include "codegen/lower/kernel.h"
#include "codegen/passes/pipeline.h"
#include "codegen/prepare/prepare_operands.h"
#include "codegen/text/parse_plan.h"
#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/core/sample.h"
#include "random_plan_graph.h"

namespace tenon::codegen {
namespace {

const Target& target() { return **target_named("x86_avx512"); }

Result<Plan> plan_of(const ir::Graph& graph, bool fuse = true) {
  const std::vector<ir::Segment> segments = tests::nodes_alone(graph);
  return plan(graph, target(), {.segments = segments, .fuse = fuse});
}

Result<PreparedPlan> prepared(const Plan& plan) {
  std::vector<Tactic> tactics;
  for (const Group& group : plan.groups) tactics.push_back(default_tactic(group, target()));
  return prepare_operands(plan, std::move(tactics), target());
}

std::string kernels_of(const Plan& plan) {
  const auto final_plan = prepared(plan);
  if (!final_plan) return final_plan.error().text();
  std::string out;
  for (size_t g = 0; g < final_plan->plan.groups.size(); ++g) {
    const auto kernels = lower_group(final_plan->plan.groups[g], final_plan->tactics[g], final_plan->plan, target());
    if (!kernels) out += kernels.error().text();
    for (size_t k = 0; kernels && k < kernels->size(); ++k) out += text_of((*kernels)[k].tile);
  }
  return out;
}

/// With one node for all equal expressions: the text does not state which are shared, and lowering computes a shared one once.
Plan shared(Plan plan) {
  std::unordered_multimap<size_t, Expr> known;
  const std::function<Expr(const Expr&)> one = [&](const Expr& e) -> Expr {
    if (!e) return e;
    const auto [first, last] = known.equal_range(hash_of(e));
    for (auto at = first; at != last; ++at)
      if (same(at->second, e)) return at->second;
    std::vector<Expr> args;
    for (const Expr& a : e.args()) args.push_back(one(a));
    const Expr out = args.empty() ? e : Expr::make(e.op(), e.dtype(), std::move(args));
    return known.emplace(hash_of(e), out)->second;
  };
  const auto all = [&](Nest& n) {
    for (NestAccess& a : n.accesses) {
      for (Expr& e : a.index) e = one(e);
      a.flat = one(a.flat), a.within = one(a.within), a.fill = one(a.fill);
    }
    for (NestOutput& o : n.outputs) {
      for (Expr& e : o.index) e = one(e);
      o.flat = one(o.flat), o.within = one(o.within), o.value = one(o.value);
    }
  };
  for (Group& g : plan.groups) {
    for (Nest& n : g.nests) all(n);
    if (g.epilogue) all(g.epilogue->map);
    if (g.contraction()) recompute_roles(g, plan);
  }
  return plan;
}

/// Prints, parses and prints; the plan again.
void expect_same_text(const Plan& plan, const std::string& where, bool lower = true) {
  ir::TextConstants constants;
  const std::string text = text_of(plan, &constants);
  Symbols symbols;
  auto again = parse_plan(text, symbols, &constants);
  ASSERT_TRUE(again) << where << ": " << again.error().text() << "\n" << text;
  ASSERT_EQ(text_of(*again), text) << where;
  again->limits = plan.limits;
  if (lower) ASSERT_EQ(kernels_of(shared(*again)), kernels_of(shared(plan))) << where << "\n" << text;
}

TEST(PlanText, PlansOfRandomGraphsPrintParseAndGiveTheSameKernels) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const auto graph = RandomPlanGraph(seed).make();
    for (const bool fuse : {true, false}) {
      const auto made = plan_of(*graph, fuse);
      ASSERT_TRUE(made) << made.error().text();
      ASSERT_NO_FATAL_FAILURE(expect_same_text(*made, fmt::format("seed {}", seed), fuse));
      const auto final_plan = prepared(*made);
      ASSERT_TRUE(final_plan) << final_plan.error().text();
      ASSERT_NO_FATAL_FAILURE(expect_same_text(final_plan->plan, fmt::format("prepared, seed {}", seed), false));
    }
  }
}

/// What prepare_operands and states add to a plan: panels, growing arrays, values that are replaced in place.
TEST(PlanText, PreparedGroupsAndStatesPrintAndParse) {
  for (const std::string_view text :
       {"graph main(x: f32[n,64]) { const w: f32[64,64] = splat(0.5) y = MatMul(x, w) return y }",
        "graph(x: f32[2,n,4], past: f32[2,p,4]) { now = Concat(past, x, axis=1) y = ReduceSum(now) state k(past) = now grows 1 to 16 "
        "return y, now }",
        "graph(x: f32[1,2,1,4], at: i64[1], k: f32[1,2,8,4]) { now = TensorScatter(k, x, at) o = ReduceMax(k) state k(k) = now return o, "
        "now }"}) {
    const auto graph = ir::parse(text, ops::table());
    ASSERT_TRUE(graph) << graph.error().text();
    const auto made = plan_of(**graph);
    ASSERT_TRUE(made) << made.error().text();
    const auto final_plan = prepared(*made);
    ASSERT_TRUE(final_plan) << final_plan.error().text();
    ASSERT_NO_FATAL_FAILURE(expect_same_text(final_plan->plan, std::string(text), false));
    const std::string printed = text_of(final_plan->plan);
    EXPECT_TRUE(printed.contains(" panels ") || printed.contains(" in place\n")) << printed;
  }
}

/// Every tenth of the samples of all ops: all of them take a minute.
TEST(PlanText, PlansOfSamplesOfOpsPrintAndParse) {
  size_t plans = 0, number = 0;
  for (const ops::OpDef* def : ops::all_ops())
    for (std::string_view text : def->samples) {
      if (number++ % 10 != 0) continue;
      const auto sample = ops::parse_sample(*def, text);
      const auto graph = sample ? ops::build_sample(*def, *sample, 1, true, true) : std::unexpected(sample.error());
      const auto made = graph ? plan_of(*graph->graph) : std::unexpected(graph.error());
      if (!made) continue;
      ++plans;
      ASSERT_NO_FATAL_FAILURE(expect_same_text(*made, fmt::format("{} {}", def->name, text), false));
    }
  EXPECT_GT(plans, 50u);
}

constexpr std::string_view kPlan = R"(plan
  v0: f32[n, 64] fixed
  c1: f32[64, 16] = splat(0.5)
  v2: f32[n, 16] fixed
  inputs v0
  outputs v2
contract
  for n, 16, +64
    x0 = v0[i0, i2]
    x1 = c1[i2, i1]
    v2[i0, i1] = sum of mul(x0, x1)
)";

/// The error for kPlan with `now` in place of `before`.
std::string fault(std::string_view before, std::string_view now) {
  std::string text(kPlan);
  const size_t at = text.find(before);
  EXPECT_NE(at, std::string::npos) << before;
  text.replace(at, before.size(), now);
  Symbols symbols;
  const auto plan = parse_plan(text, symbols);
  if (plan) return "no error: " + text_of(*plan);
  const Diagnostic& d = *plan.error();
  return d.place + ": " + d.what + "; expected " + d.expected + ", found " + d.found;
}

#define EXPECT_FAULT(before, now, what) EXPECT_NE(fault(before, now).find(what), std::string::npos) << fault(before, now)

TEST(PlanText, FaultsHaveLineAndColumnAndWhatIsExpected) {
  Symbols symbols;
  const auto right = parse_plan(kPlan, symbols);
  ASSERT_TRUE(right) << right.error().text();
  EXPECT_EQ(text_of(*right), kPlan);
  EXPECT_FAULT("x1 = c1", "x1 = c9", "line 10, column 10: no array of this name is declared");
  EXPECT_FAULT("x1 = c1", "x1 = t1", "no array of this name is declared");
  EXPECT_FAULT("x1 = c1", "x2 = c1", "line 10, column 5: loads are not numbered in their order; expected x1, found `x2`");
  EXPECT_FAULT("[i2, i1]", "[i2]", "an index of another rank; expected 2 dimensions, found 1");
  EXPECT_FAULT("[i2, i1]", "[i3, i1]", "an axis or a load that the nest lacks; expected 3 axes and 2 loads");
  EXPECT_FAULT("[i2, i1]", "[x0, i1]", "line 10, column 13: an expression of another dtype; expected i64, found f32");
  EXPECT_FAULT("mul(x0, x1)", "mul(x0, x7)", "line 11, column 33: a load that does not come before");
  EXPECT_FAULT("sum of", "total of", "line 11, column 18: how values are combined is not known; expected none, sum, product");
  EXPECT_FAULT("contract", "contraction", "line 7, column 1: a kind of group is not known; expected nests, contract,");
  EXPECT_FAULT("sum of mul(x0, x1)", "sum of add(x0, x1)", "line 7, column 1: a contraction that is no sum of products");
  EXPECT_FAULT("  v2:", "  v1:", "line 4, column 3: arrays are not numbered in rising order; expected a number from 2 on");
  EXPECT_FAULT("  v2:", "  v99999999999999999999:", "arrays are not numbered in rising order");
  EXPECT_FAULT("16] fixed", "16] in order 00 fixed", "a memory order that is no permutation");
  EXPECT_FAULT("16] fixed", "16] padded by 99999999999999 fixed", "the padding of rows is not well formed; expected an integer from 1 to");
  EXPECT_FAULT("16] fixed", "16] shares v2 fixed", "an array that shares its own bytes");
  EXPECT_FAULT("+64", "+[64 *]", "a size is not well formed");
}

TEST(PlanText, PlansThatAreNotSoundAreRefused) {
  EXPECT_FAULT("16] fixed\n  inputs", "16] padded by 16 fixed\n  inputs", "a memory order that others do not expect");
  EXPECT_FAULT("inputs v0\n", "", "a read before it is written: array 0");
}

/// Cut, swapped, repeated, with numbers that are far too large: an error, or a plan that the verifier accepts.
TEST(PlanText, DamagedTextsAreErrorsOrSoundPlans) {
  std::vector<std::string> texts = {std::string(kPlan)};
  for (uint64_t seed = 0; seed < 6; ++seed) {
    const auto graph = RandomPlanGraph(seed).make();
    texts.push_back(text_of(*plan_of(*graph)));
  }
  std::mt19937_64 random(1);
  const auto pick = [&](size_t n) { return random() % n; };
  constexpr std::string_view kPieces[] = {"99999999999999999999",
                                          "-1",
                                          "4611686018427387904",
                                          "[",
                                          "]",
                                          "(",
                                          ")",
                                          "\n",
                                          "x0",
                                          "t1",
                                          "i9",
                                          "cast(",
                                          "shares v0",
                                          "in order 10",
                                          "within 9.9 and 9.9",
                                          "@0",
                                          "\"",
                                          "for",
                                          "then",
                                          "contract\n"};
  size_t sound = 0, wrong = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string text = texts[pick(texts.size())];
    for (size_t changes = 1 + pick(3); changes-- > 0 && !text.empty();) {
      const size_t at = pick(text.size());
      if (const size_t how = pick(5); how == 0) text.resize(at);
      else if (how == 1) std::swap(text[at], text[pick(text.size())]);
      else if (how == 2) text.erase(at, 1 + pick(12));
      else if (how == 3) text.insert(at, kPieces[pick(std::size(kPieces))]);
      else text[at] = static_cast<char>(random());
    }
    Symbols symbols;
    const auto plan = parse_plan(text, symbols);
    ++(plan ? sound : wrong);
    if (!plan) {
      ASSERT_NE(plan.error().code(), Code::internal) << text;
      continue;
    }
    ir::TextConstants constants;
    const std::string printed = text_of(*plan, &constants);
    const auto again = parse_plan(printed, symbols, &constants);
    ASSERT_TRUE(again) << again.error().text() << "\n" << printed;
  }
  EXPECT_GT(sound, 20u);
  EXPECT_GT(wrong, 1000u);
}

}  // namespace
}  // namespace tenon::codegen
