// SPDX-License-Identifier: Apache-2.0
// The order in which every node is shown to every rule in turn, and rules whose edits change shapes.
#include "helpers.h"
#include "rewrite/match.h"
#include "rewrite/rewriter.h"

namespace tenon::tests {
namespace {

using namespace rewrite;

Options in_turn() {
  Options options;
  options.order = Order::in_turn;
  return options;
}

Statistics run_rules(ir::Graph& graph, std::vector<RulePtr> rules, const Options& options) {
  auto stats = rewrite::rewrite(graph, RuleSet(std::move(rules), ops::table()), options);
  if (!stats) ADD_FAILURE() << stats.error().text();
  auto ok = ir::verify(graph);
  if (!ok) ADD_FAILURE() << ok.error().text();
  return stats ? *stats : Statistics();
}

/// from(x) => to(x), by editing in place; the new node is at the end, where a sweep would still come by.
std::shared_ptr<CompiledRule> renames(const char* from, const char* to, int benefit = 1) {
  auto rule = std::make_shared<CompiledRule>();
  rule->name = std::string(from) + "_to_" + to;
  rule->roots = {from};
  rule->benefit = benefit;
  rule->match_and_rewrite = [to](Match& m, Rewriter& w) {
    const ValueId made = ir::Builder(w.edit())(to, {m.operand(m.root(), 0)});
    return made && w.edit().replace_all_uses(m.result(m.root()), made);
  };
  return rule;
}

TEST(OrderInTurn, LeavesNewNodesToTheNextSweep) {
  auto g = graph_of("graph main(x: f32[b]) {\n a = Relu(x)\n t = Tanh(x)\n y = Add(t, a)\n return y\n}\n");
  const auto stats = run_rules(*g, {renames("Relu", "Abs"), renames("Abs", "Exp")}, in_turn());
  EXPECT_EQ(ops_of(*g), "Tanh Exp Add");
  EXPECT_EQ(stats.sweeps, 3);  // Relu, Abs, and one that finds nothing
}

TEST(OrderInTurn, OffersALiveNodeToEveryRule) {
  std::vector<std::string> asked;
  const auto watching = [&](const char* name, int benefit) {
    auto rule = std::make_shared<CompiledRule>();
    rule->name = name;
    rule->benefit = benefit;
    rule->match_and_rewrite = [&asked, name](Match& m, Rewriter&) {
      asked.push_back(std::string(name) + " " + m.node(m.root()).op->name);
      return false;
    };
    return rule;
  };
  auto g = graph_of("graph main(x: f32[b]) {\n a = Relu(x)\n y = Neg(a)\n return y\n}\n");
  Options once = in_turn();
  once.iterations = 1;
  run_rules(*g, {watching("last", 0), renames("Relu", "Abs", 1), watching("first", 2)}, once);
  EXPECT_EQ(asked, (std::vector<std::string>{"first Relu", "first Neg", "last Neg"}));  // the Relu is gone before "last" sees it
}

TEST(OrderInTurn, EndsAndReportsEndlessAttributeEdits) {
  auto toggles = std::make_shared<CompiledRule>();
  toggles->name = "toggles";
  toggles->roots = {"LeakyRelu"};
  toggles->match_and_rewrite = [](Match& m, Rewriter& w) {
    w.edit().set_attribute(m.root(), "alpha", 1 - static_cast<float>(m.node(m.root()).attributes.number("alpha", 0)));
    return true;
  };
  auto g = graph_of("graph main(x: f32[b]) {\n y = LeakyRelu(x, alpha=0.25)\n return y\n}\n");
  Options options = in_turn();
  options.sweeps = 1;
  const auto stats = run_rules(*g, {toggles}, options);
  EXPECT_EQ(stats.sweeps, 32);
  ASSERT_EQ(stats.reports.size(), 1u);
  EXPECT_NE(stats.reports[0].find("the last one was by toggles"), std::string::npos);
}

/// Relu(x) => Neg of x without its last axis.
std::shared_ptr<CompiledRule> drops_an_axis(bool reshapes) {
  auto rule = std::make_shared<CompiledRule>();
  rule->name = "drops_an_axis";
  rule->roots = {"Relu"};
  rule->reshapes = reshapes;
  rule->match_and_rewrite = [](Match& m, Rewriter& w) {
    const ValueId made = w("Neg", {w("Squeeze", {m.operand(m.root(), 0), w.ints({-1})})});
    return made && w.edit().replace_all_uses(m.result(m.root()), made);
  };
  return rule;
}

TEST(Reshapes, InfersWhatFollowsAfresh) {
  auto g = graph_of("graph main(x: f32[4,1]) {\n a = Relu(x)\n b = Abs(a)\n y = Exp(b)\n return y\n}\n");
  run_rules(*g, {drops_an_axis(true)}, in_turn());
  EXPECT_EQ(ops_of(*g), "Squeeze Neg Abs Exp");
  EXPECT_EQ(g->value(g->outputs()[0]).type.text(), "f32[4]");
}

TEST(Reshapes, DropsASizeThatBecomesUnknown) {
  auto rule = std::make_shared<CompiledRule>();
  rule->name = "takes_the_other";
  rule->roots = {"Relu"};
  rule->reshapes = true;
  rule->match_and_rewrite = [](Match& m, Rewriter& w) {
    return w.edit().replace_all_uses(m.result(m.root()), w("Neg", {m.graph().inputs()[1]}));
  };
  auto g = graph_of("graph main(x: f32[4], z: f32[n]) {\n a = Relu(x)\n y = Abs(a)\n return y\n}\n");
  run_rules(*g, {rule}, in_turn());
  EXPECT_EQ(g->value(g->outputs()[0]).type.text(), "f32[n]");
}

TEST(Reshapes, IsNotAllowedToARuleThatDoesNotSaySo) {
  auto g = graph_of("graph main(x: f32[4,1]) {\n a = Relu(x)\n y = Abs(a)\n return y\n}\n");
  const std::string before = ir::print(*g);
  const auto stats = run_rules(*g, {drops_an_axis(false)}, in_turn());
  EXPECT_EQ(ir::print(*g), before);
  EXPECT_TRUE(stats.rules[0].left_out);
}

TEST(Reshapes, IsTakenBackWhereWhatFollowsCannotBe) {
  // MatMul(f32[4], f32[1,5]) has inner sizes 4 and 1.
  auto g = graph_of("graph main(x: f32[4,1], w: f32[1,5]) {\n a = Relu(x)\n b = Abs(a)\n y = MatMul(b, w)\n return y\n}\n");
  const std::string before = ir::print(*g);
  const auto stats = run_rules(*g, {drops_an_axis(true)}, in_turn());
  EXPECT_EQ(ir::print(*g), before);
  EXPECT_TRUE(stats.rules[0].left_out);
  EXPECT_EQ(g->value(g->outputs()[0]).type.text(), "f32[4,5]");
}

}  // namespace
}  // namespace tenon::tests
