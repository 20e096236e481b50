// SPDX-License-Identifier: Apache-2.0
#include "rewrite/driver/driver.h"

#include <stdexcept>

#include "helpers.h"
#include "rewrite/rewriter.h"

namespace tenon::tests {
namespace {

using namespace rewrite;

constexpr Rule kNotNot{.name = "not_not", .docs = "", .equation = "Not(Not(?x)) => ?x"};
constexpr Rule kSwap{.name = "swap", .docs = "", .equation = "Sub(?a, ?b) => Neg(Sub(?b, ?a))"};
constexpr Rule kReluToAbs{.name = "relu_to_abs", .docs = "", .equation = "Relu(?x) => Abs(?x)", .benefit = 1};
constexpr Rule kReluToNeg{.name = "relu_to_neg", .docs = "", .equation = "Relu(?x) => Neg(?x)", .benefit = 2};
constexpr Rule kApproximate{.name = "approximate", .docs = "", .equation = "Relu(?x) => Abs(?x)", .numerics = Numerics::approximate};

bool always(Match&) { return true; }
bool throws(const Match& m, Rewriter& w) {
  w("Abs", {m.operand(m.root(), 0)});
  throw std::runtime_error("out of ideas");
}
bool wrong_dtype(const Match& m, Rewriter& w) {
  w.replace(m.result(m.root()), w("Cast", {m.operand(m.root(), 0)}, {{"to", int64_t{11}}}));
  return true;
}
bool second_replacement_fails(const Match& m, Rewriter& w) {
  const ValueId abs = w("Abs", {m.operand(m.root(), 0)});
  w.replace(m.result(m.root()), abs);
  w.replace(abs, w("Cast", {abs}, {{"to", int64_t{11}}}));
  return true;
}
bool refuses(const Match& m, Rewriter& w) {
  w("Abs", {m.operand(m.root(), 0)});
  w.scalar(DType::f32, 1);
  return false;
}
constexpr Rule kThrows{.name = "throws", .docs = "", .roots = "Relu", .match = always, .rewrite = throws};
constexpr Rule kWrongDtype{.name = "wrong_dtype", .docs = "", .roots = "Relu", .match = always, .rewrite = wrong_dtype};
constexpr Rule kHalf{.name = "half", .docs = "", .roots = "Relu", .match = always, .rewrite = second_replacement_fails};
constexpr Rule kRefuses{.name = "refuses", .docs = "", .roots = "Relu", .match = always, .rewrite = refuses};

constexpr std::string_view kRelu = "graph main(x: f32[b]) {\n  y = Relu(x)\n  return y\n}\n";

TEST(Driver, AppliesARuleAndRemovesWhatDied) {
  auto g = graph_of("graph main(x: bool[4]) {\n a = Not(x)\n b = Not(a)\n y = And(b, x)\n return y\n}\n");
  const auto stats = run(*g, {&kNotNot});
  EXPECT_EQ(ops_of(*g), "And");
  EXPECT_EQ(stats.rules[0].applied, 1);
  EXPECT_EQ(stats.rules[0].removed, 2);
  EXPECT_TRUE(stats.changed);
}

TEST(Driver, ReportsUnchangedWhereNothingMatches) {
  auto g = graph_of(kRelu);
  EXPECT_FALSE(run(*g, {&kNotNot}).changed);
}

TEST(Driver, RefusesAnInnerValueWithAUserOutside) {
  auto g = graph_of("graph main(x: bool[4]) {\n a = Not(x)\n b = Not(a)\n y = And(b, a)\n return y\n}\n");
  const auto stats = run(*g, {&kNotNot});
  EXPECT_EQ(ops_of(*g), "Not Not And");
  EXPECT_EQ(stats.rules[0].refused.at("a value inside the match has users outside"), 1);
}

TEST(Driver, RefusesAnInnerValueThatIsAGraphOutput) {
  auto g = graph_of("graph main(x: bool[4]) {\n a = Not(x)\n b = Not(a)\n return b, a\n}\n");
  EXPECT_EQ(run(*g, {&kNotNot}).rules[0].applied, 0);
  EXPECT_EQ(ops_of(*g), "Not Not");
}

TEST(Driver, RefusesAnInnerValueThatABodyCaptures) {
  auto g = graph_of(
      "graph main(c: bool[], x: bool[4]) {\n a = Not(x)\n b = Not(a)\n"
      " y = If(c) then_branch={ graph(h: bool[4]) { d = Not(h)\n return d } } captures=[a]"
      " else_branch={ graph(h: bool[4]) { d = And(h, h)\n return d } } captures=[b]\n z = And(y, b)\n return z\n}\n");
  const auto stats = run(*g, {&kNotNot});
  EXPECT_EQ(stats.rules[0].applied, 0);
  EXPECT_TRUE(stats.rules[0].refused.contains("a value inside the match is captured by a body"));
}

TEST(Driver, SeesAMatchThatAnotherRewriteUncovers) {
  auto g = graph_of("graph main(x: bool[4]) {\n a = Not(x)\n b = Not(a)\n c = Not(b)\n d = Not(c)\n y = And(d, x)\n return y\n}\n");
  EXPECT_EQ(run(*g, {&kNotNot}).rules[0].applied, 2);
  EXPECT_EQ(ops_of(*g), "And");
}

TEST(Driver, KeepsTheNamesOfGraphOutputs) {
  auto g = graph_of("graph main(x: bool[4]) {\n a = Not(x)\n first = Not(a)\n return first\n}\n");
  run(*g, {&kNotNot});
  EXPECT_EQ(ops_of(*g), "");
  EXPECT_EQ(g->outputs()[0], g->inputs()[0]);
  EXPECT_EQ(g->output_name(0), "first");
}

TEST(Driver, HigherBenefitGoesFirst) {
  auto g = graph_of(kRelu);
  run(*g, {&kReluToAbs, &kReluToNeg});
  EXPECT_EQ(ops_of(*g), "Neg");
}

TEST(Driver, ApproximateRulesNeedLeave) {
  auto g = graph_of(kRelu);
  run(*g, {&kApproximate});
  EXPECT_EQ(ops_of(*g), "Relu");
  Options options;
  options.allowed = Numerics::approximate;
  run(*g, {&kApproximate}, options);
  EXPECT_EQ(ops_of(*g), "Abs");
}

TEST(Driver, NamesTheRuleThatDoesNotSettle) {
  auto g = graph_of("graph main(x: f32[b], z: f32[b]) {\n y = Sub(x, z)\n return y\n}\n");
  Options options;
  options.repeats = 20;
  const auto stats = run(*g, {&kSwap}, options);
  ASSERT_EQ(stats.reports.size(), 1u);
  EXPECT_NE(stats.reports[0].find("rule swap does not settle"), std::string::npos);
  EXPECT_TRUE(stats.rules[0].left_out);
  EXPECT_LE(stats.rules[0].applied, 22);
}

TEST(Driver, StopsAfterKRewrites) {
  auto g = graph_of("graph main(x: bool[4]) {\n a = Not(x)\n b = Not(a)\n c = Not(b)\n d = Not(c)\n y = And(d, x)\n return y\n}\n");
  Options options;
  options.stop_after = 1;
  EXPECT_EQ(run(*g, {&kNotNot}, options).rules[0].applied, 1);
  EXPECT_EQ(ops_of(*g), "Not Not And");
}

class Failing : public testing::TestWithParam<const Rule*> {};
TEST_P(Failing, LeavesNoTrace) {
  auto g = graph_of(kRelu);
  const std::string before = ir::print(*g);
  const size_t values = g->value_count();
  const auto stats = run(*g, {GetParam()});
  EXPECT_EQ(ir::print(*g), before);
  EXPECT_EQ(g->value_count(), values);
  EXPECT_FALSE(stats.changed);
  EXPECT_EQ(stats.rules[0].refused.size(), 1u);
}
INSTANTIATE_TEST_SUITE_P(Rules, Failing, testing::Values(&kThrows, &kWrongDtype, &kHalf, &kRefuses),
                         [](const auto& info) { return std::string(info.param->name); });

bool match_throws(Match&) { throw std::runtime_error("cannot look"); }

TEST(Driver, NamesARuleThatThrowsWhileMatchingAndGoesOn) {
  static constexpr Rule rule{.name = "looks", .docs = "", .roots = "Relu", .match = match_throws, .rewrite = refuses};
  auto g = graph_of(kRelu);
  const auto stats = run(*g, {&rule, &kReluToAbs});
  ASSERT_EQ(stats.reports.size(), 1u);
  EXPECT_EQ(stats.reports[0], "rule looks was undone and left out: it threw while matching: cannot look, at node '' (Relu)");
  EXPECT_EQ(ops_of(*g), "Abs");
}

TEST(Driver, NewNodesSayWhereTheyCameFrom) {
  auto g = graph_of(kRelu);
  run(*g, {&kReluToAbs});
  const ir::Provenance& p = *g->node(g->first()).provenance;
  EXPECT_EQ(p.rule, "relu_to_abs");
  EXPECT_EQ(p.sources.size(), 1u);
}

TEST(Driver, RemovesDeadNodesOnTheWay) {
  auto g = graph_of("graph main(x: f32[b]) {\n a = Abs(x)\n c = Neg(a)\n y = Relu(x)\n return y\n}\n");
  run(*g, {});
  EXPECT_EQ(ops_of(*g), "Relu");
}

TEST(Driver, WorksInsideBodies) {
  auto g = graph_of(
      "graph main(c: bool[], x: f32[4]) {\n  y = If(c) then_branch={ graph(h: f32[4]) { a = Neg(h)\n b = Neg(a)\n d ="
      " Relu(b)\n return d } } captures=[x] else_branch={ graph(h: f32[4]) { "
      "d = Abs(h)\n return d } } captures=[x]\n  return y\n}\n");
  static constexpr Rule kNegNeg{.name = "neg_neg", .docs = "", .equation = "Neg(Neg(?x)) => ?x"};
  EXPECT_EQ(run(*g, {&kNegNeg}).rules[0].applied, 1);
}

/// n layers of Not(Not(x)) and an And.
std::unique_ptr<ir::Graph> tower(int layers) {
  auto g = std::make_unique<ir::Graph>(ops::table());
  ValueId x = g->add_input("x", ir::Type(DType::boolean, {4}));
  ir::Builder build(*g);
  for (int i = 0; i < layers; ++i) {
    const ValueId keep = x;
    for (int k = 0; k < 6; ++k) x = build("Not", {x});
    x = build("And", {x, keep});
  }
  g->add_output(x);
  return g;
}

TEST(Driver, VisitsGrowLinearly) {
  double per_node[2];
  int i = 0;
  for (int layers : {300, 3000}) {
    auto g = tower(layers);
    const auto nodes = static_cast<double>(g->node_count());
    const auto stats = run(*g, {&kNotNot});
    EXPECT_EQ(stats.rules[0].applied, 3 * layers);
    per_node[i++] = static_cast<double>(stats.visits) / nodes;
  }
  EXPECT_LT(per_node[1], 1.1 * per_node[0]);
  EXPECT_LT(per_node[1], 6);
}

}  // namespace
}  // namespace tenon::tests
