// SPDX-License-Identifier: Apache-2.0
// The order in which whole sweeps of matches are collected before any is carried out.
#include "helpers.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"

namespace tenon::tests {
namespace {

using namespace rewrite;

constexpr Rule kNotNot{.name = "not_not", .docs = "", .equation = "Not(Not(?x)) => ?x"};
constexpr std::string_view kFour =
    "graph main(x: bool[4]) {\n a = Not(x)\n b = Not(a)\n c = Not(b)\n d = Not(c)\n y = And(d, x)\n return y\n}\n";

Options sweeping() {
  Options options;
  options.order = Order::sweep;
  return options;
}

TEST(Sweep, DropsMatchesThatShareANodeAndNeedsAnotherSweepForThem) {
  // b, c and d each end a pair; b's pair is collected first, c's shares a node with it, d's does not.
  auto g = graph_of(kFour);
  const auto stats = run(*g, {&kNotNot}, sweeping());
  EXPECT_EQ(ops_of(*g), "And");
  EXPECT_EQ(stats.rules[0].applied, 2);
  EXPECT_EQ(stats.rules[0].matches, 3);
  EXPECT_EQ(stats.sweeps, 2);
}

TEST(Sweep, GoesRuleByRuleWhereTheWorklistGoesNodeByNode) {
  static constexpr Rule outer{.name = "outer", .docs = "", .equation = "Neg(Relu(?x)) => Exp(?x)"};
  static constexpr Rule inner{.name = "inner", .docs = "", .equation = "Relu(?x) => Abs(?x)"};
  constexpr std::string_view text = "graph main(x: f32[b]) {\n a = Relu(x)\n y = Neg(a)\n return y\n}\n";
  auto by_rule = graph_of(text), by_node = graph_of(text);
  run(*by_rule, {&outer, &inner}, sweeping());
  run(*by_node, {&outer, &inner});
  EXPECT_EQ(ops_of(*by_rule), "Exp");
  EXPECT_EQ(ops_of(*by_node), "Abs Neg");
}

TEST(Sweep, StopsAfterKRewrites) {
  auto g = graph_of(kFour);
  Options options = sweeping();
  options.stop_after = 1;
  EXPECT_EQ(run(*g, {&kNotNot}, options).rules[0].applied, 1);
  EXPECT_EQ(ops_of(*g), "Not Not And");
}

bool anywhere(Match&) { return true; }
bool gives_up(const Match&, Rewriter&) { return false; }
bool gives_nothing(const Match& m, Rewriter& w) {
  w.replace(m.result(m.root()), {});
  return true;
}

TEST(Sweep, RefusedRuleLeavesItsNodesToOtherRules) {
  static constexpr Rule refused{.name = "refused", .docs = "", .roots = "Relu", .match = anywhere, .rewrite = gives_up};
  static constexpr Rule broken{.name = "broken", .docs = "", .roots = "Relu", .match = anywhere, .rewrite = gives_nothing};
  static constexpr Rule works{.name = "works", .docs = "", .equation = "Relu(?x) => Abs(?x)"};
  for (const Rule* first : {&refused, &broken}) {
    auto g = graph_of("graph main(x: f32[b]) {\n y = Relu(x)\n return y\n}\n");
    run(*g, {first, &works}, sweeping());
    EXPECT_EQ(ops_of(*g), "Abs") << first->name;
  }
}

TEST(Sweep, MakesAsManyIterationsAsItMay) {
  auto g = graph_of("graph main(x: bool[4]) {\n a = Not(x)\n b = Not(a)\n c = Not(b)\n y = And(c, x)\n return y\n}\n");
  static constexpr Rule step{.name = "step", .docs = "", .equation = "Not(And(?x, ?x)) => Or(?x, ?x)"};
  static constexpr Rule start{.name = "start", .docs = "", .equation = "Not(Not(?x)) => And(?x, ?x)"};
  Options options = sweeping();
  options.iterations = 1;
  EXPECT_EQ(run(*g, {&step, &start}, options).sweeps, 1);
  EXPECT_EQ(ops_of(*g), "And Not And");
}

TEST(Sweep, EndsWhereRulesAlternate) {
  static constexpr Rule there{.name = "there", .docs = "", .equation = "Relu(?x) => Abs(?x)"};
  static constexpr Rule back{.name = "back", .docs = "", .equation = "Abs(?x) => Relu(?x)"};
  auto g = graph_of("graph main(x: f32[b]) {\n y = Relu(x)\n return y\n}\n");
  Options options = sweeping();
  options.repeats = 10;
  EXPECT_EQ(run(*g, {&there, &back}, options).reports.size(), 1u);
}

}  // namespace
}  // namespace tenon::tests
