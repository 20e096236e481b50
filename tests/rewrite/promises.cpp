// SPDX-License-Identifier: Apache-2.0
// The driver disables rules that break a promise of every rule.
#include "helpers.h"
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"

namespace tenon::tests {
namespace {

using namespace rewrite;

constexpr std::string_view kTwo = "graph main(x: f32[b]) {\n a = Relu(x)\n y = Neg(a)\n return y\n}\n";
constexpr Rule kReluToAbs{.name = "relu_to_abs", .docs = "", .equation = "Relu(?x) => Abs(?x)"};

ValueId operand0(const Match& m) { return m.operand(m.root(), 0); }

bool changes_while_matching(Match& m) {
  auto& graph = const_cast<Graph&>(m.graph());
  graph.add_constant(ir::constant_of(Tensor::scalar(DType::f32, 1)));
  return true;
}
bool matches_all(Match&) { return true; }
bool gives_a_stranger(const Match& m, Rewriter& w) {
  w.replace(m.result(m.root()), ir::ValueId(4000, 3));
  return true;
}
bool gives_another_type(const Match& m, Rewriter& w) {
  w.replace(m.result(m.root()), w("Cast", {operand0(m)}, {{"to", int64_t{7}}}));
  return true;
}
bool edits_to_another_type(const Match& m, Rewriter& w) {
  const ValueId cast = w("Cast", {operand0(m)}, {{"to", int64_t{7}}});
  w.edit().replace_all_uses(m.result(m.root()), cast);
  return true;
}
bool claims_a_change(const Match&, Rewriter&) { return true; }
bool throws(const Match& m, Rewriter& w) {
  w("Abs", {operand0(m)});
  throw std::runtime_error("no more");
}

constexpr Rule kBroken[] = {
    {.name = "changes", .docs = "", .roots = "Relu", .match = changes_while_matching, .rewrite = throws},
    {.name = "stranger", .docs = "", .roots = "Relu", .match = matches_all, .rewrite = gives_a_stranger},
    {.name = "type", .docs = "", .roots = "Relu", .match = matches_all, .rewrite = gives_another_type},
    {.name = "edit", .docs = "", .roots = "Relu", .match = matches_all, .rewrite = edits_to_another_type},
    {.name = "claims", .docs = "", .roots = "Relu", .match = matches_all, .rewrite = claims_a_change},
    {.name = "throws", .docs = "", .roots = "Relu", .match = matches_all, .rewrite = throws},
};
constexpr std::string_view kReasons[] = {"it changed the graph while matching",
                                         "the rule gave a value that the graph does not have",
                                         "the replacement has another element type",
                                         "the replacement has another dtype",
                                         "it said that it had rewritten, and nothing has changed",
                                         "it threw while rewriting: no more"};

class Broken : public testing::TestWithParam<size_t> {};
TEST_P(Broken, RuleIsNamedUndoneAndDisabledAndOthersContinue) {
  auto g = graph_of(kTwo);
  const size_t values = g->value_count();
  const Rule& rule = kBroken[GetParam()];
  const auto alone = run(*g, {&rule});
  EXPECT_EQ(ir::print(*g), ir::print(*graph_of(kTwo)));
  EXPECT_EQ(g->value_count(), values);
  EXPECT_FALSE(alone.changed);
  const auto stats = run(*g, {&rule, &kReluToAbs});
  EXPECT_EQ(ops_of(*g), "Abs Neg");
  EXPECT_TRUE(stats.rules[0].left_out);
  ASSERT_EQ(stats.reports.size(), 1u);
  EXPECT_EQ(stats.reports[0],
            "rule " + std::string(rule.name) + " was undone and left out: " + std::string(kReasons[GetParam()]) + ", at node '' (Relu)");
}
INSTANTIATE_TEST_SUITE_P(Rules, Broken, testing::Range<size_t>(0, std::size(kBroken)),
                         [](const auto& info) { return std::string(kBroken[info.param].name); });

TEST(Promises, AlternatingRulesAreNamed) {
  static constexpr Rule there{.name = "there", .docs = "", .equation = "Relu(Neg(?x)) => Abs(Neg(?x))"};
  static constexpr Rule back{.name = "back", .docs = "", .equation = "Abs(Neg(?x)) => Relu(Neg(?x))"};
  auto g = graph_of("graph main(x: f32[b]) {\n a = Neg(x)\n y = Relu(a)\n return y\n}\n");
  Options options;
  options.repeats = 20;
  const auto stats = run(*g, {&there, &back}, options);
  ASSERT_EQ(stats.reports.size(), 1u);
  EXPECT_NE(stats.reports[0].find("21 rewrites one upon the other"), std::string::npos) << stats.reports[0];
  EXPECT_NE(stats.reports[0].find("by back -> there;"), std::string::npos) << stats.reports[0];
}

int64_t count_relus(const Graph& graph, std::span<const NodeId> nodes) {
  return std::ranges::count_if(nodes, [&](NodeId n) { return graph.node(n).is("Relu"); });
}

TEST(Promises, ARewriteThatDoesNotLowerItsMeasureIsRefused) {
  static constexpr Rule lowers{.name = "lowers", .docs = "", .equation = "Relu(?x) => Abs(?x)", .measure = count_relus};
  static constexpr Rule keeps{.name = "keeps", .docs = "", .equation = "Neg(?x) => Relu(Neg(?x))", .measure = count_relus};
  auto g = graph_of(kTwo);
  const auto stats = run(*g, {&lowers, &keeps});
  EXPECT_EQ(ops_of(*g), "Abs Neg");
  EXPECT_GE(stats.rules[1].refused.at("its measure does not go down"), 1);
  EXPECT_TRUE(stats.reports.empty());
}

bool sets_an_attribute(Match& m, Rewriter& w) {
  if (m.node(m.root()).attributes.has("alpha")) return false;
  w.edit().set_attribute(m.root(), "alpha", 0.5f);
  return true;
}

TEST(Promises, EditsInPlaceAreRewritesAndAreTakenBackWhereTheyAreRefused) {
  static constexpr Rule rule{.name = "in_place", .docs = "", .roots = "LeakyRelu", .match_and_rewrite = sets_an_attribute};
  constexpr std::string_view text = "graph main(x: f32[b]) {\n y = LeakyRelu(x)\n return y\n}\n";
  auto g = graph_of(text);
  EXPECT_EQ(run(*g, {&rule}).rules[0].applied, 1);
  EXPECT_EQ(g->node(g->first()).attributes.number("alpha", 0), 0.5f);
  auto refused = graph_of(text);
  Options options;
  options.check = [](const Proposal&) -> Result<void> { return fail(Code::bad_rule, "", "looks wrong"); };
  const auto stats = run(*refused, {&rule}, options);
  EXPECT_EQ(ir::print(*refused), ir::print(*graph_of(text)));
  ASSERT_EQ(stats.reports.size(), 1u);
  EXPECT_NE(stats.reports[0].find("looks wrong"), std::string::npos);
}

TEST(Promises, ARuleInABodyMayBindAValueFromOutside) {
  static constexpr Rule not_not{.name = "not_not", .docs = "", .equation = "Not(Not(?x)) => ?x"};
  auto g = graph_of(
      "graph main(c: bool[], x: bool[4]) {\n"
      " y = If(c) then_branch={ graph(h: bool[4]) { d = Not(h)\n e = Not(d)\n f = And(e, e)\n return f } } captures=[x]"
      " else_branch={ graph(h: bool[4]) { d = Not(h)\n return d } } captures=[x]\n return y\n}\n");
  EXPECT_EQ(run(*g, {&not_not}).rules[0].applied, 1);
  const ir::Graph& then_branch = *g->node(g->first()).bodies[0].graph;
  EXPECT_EQ(ops_of(then_branch), "And");
  EXPECT_EQ(then_branch.node(then_branch.first()).inputs[0], then_branch.inputs()[0]);
}

TEST(Promises, NewNodesKeepTheMetadataOfTheirSources) {
  static constexpr Rule both{.name = "both", .docs = "", .equation = "Neg(Relu(?x)) => Exp(?x)"};
  auto g = graph_of(kTwo);
  const auto say = [&](ir::NodeId node, const char* layer, const char* line) {
    g->set_provenance(node, std::make_shared<const ir::Provenance>(ir::Provenance{"", {}, {{"layer", layer}, {"line", line}}}));
  };
  say(g->first(), "7", "a.py:1");
  say(g->last(), "7", "a.py:2");
  run(*g, {&both});
  const auto& metadata = g->node(g->first()).provenance->metadata;
  ASSERT_EQ(metadata.size(), 1u);
  EXPECT_EQ(metadata[0], (std::pair<std::string, std::string>("layer", "7")));
}

}  // namespace
}  // namespace tenon::tests
