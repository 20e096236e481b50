// SPDX-License-Identifier: Apache-2.0
#include "rewrite/why/why.h"

#include "helpers.h"

namespace tenon::tests {
namespace {

using namespace rewrite;

Why ask(const ir::Graph& g, const Rule& rule, std::string_view value, const WhyOptions& options = {}) {
  auto compiled = compile(rule, ops::table());
  if (!compiled) ADD_FAILURE() << compiled.error().text();
  return why(g, **compiled, g.value(g.find_value(value)).producer, options);
}

constexpr Rule kGelu{
    .name = "gelu", .docs = "", .equation = "Mul(Mul(?x, Add(Erf(Div(?x, 1.4142135)), 1)), 0.5) => Gelu(?x) where float(?x)"};

/// Gelu as it is exported; `%s` stand for what a case changes.
std::string gelu(std::string_view erf_input, std::string_view half, std::string_view returns = "y") {
  return std::string("graph main(x: f32[b,4]) {\n const r: f32[] = [1.4142135]\n const one: f32[] = [1]\n const half: f32[] = [") +
         std::string(half) + "]\n d = Div(x, r)\n " + std::string(erf_input) +
         "\n a = Add(e, one)\n m = Mul(x, a)\n y = Mul(m, half)\n return " + std::string(returns) + "\n}\n";
}

TEST(Why, AMatchApplies) {
  auto g = graph_of(gelu("e = Erf(d)", "0.5"));
  const Why w = ask(*g, kGelu, "y");
  EXPECT_EQ(w.outcome, Why::Outcome::applies);
  EXPECT_EQ(w.text(), "gelu at node 'y' (Mul): it applies");
  EXPECT_EQ(ops_of(*g), "Div Erf Add Mul Mul") << "asking changes nothing";
}

TEST(Why, NamesTheNodeThatIsInTheWay) {
  auto g = graph_of(gelu("c = Cast(d, to=1)\n e = Erf(c)", "0.5"));
  EXPECT_EQ(
      ask(*g, kGelu, "y").text(),
      "gelu at node 'y' (Mul): it does not match (5 of 10 parts do)\n  matched:  'y' (Mul), 'm' (Mul), 'a' (Add), 'e' (Erf)\n  at:       below 'e' (Erf)\n"
      "  expected: Div(?x, 1.4142135)\n  found:    'c' (Cast)\n  it would match if node 'c' (Cast) were absent");
}

TEST(Why, NamesTheConstantThatDiffers) {
  auto g = graph_of(gelu("e = Erf(d)", "0.25"));
  const Why w = ask(*g, kGelu, "y");
  ASSERT_EQ(w.would_do.size(), 1u) << w.text();
  EXPECT_EQ(w.would_do[0], "the constant were 0.5 (found 0.25, constant f32[] 'half')");
}

TEST(Why, TwoFaultsAreBothNamed) {
  auto g = graph_of(gelu("c = Identity(d)\n e = Erf(c)", "0.25"));
  const Why w = ask(*g, kGelu, "y");
  EXPECT_EQ(w.would_do.size(), 2u) << w.text();
}

TEST(Why, NamesTheUserOutside) {
  auto g = graph_of(gelu("e = Erf(d)", "0.5", "y, m"));
  const Why w = ask(*g, kGelu, "y");
  EXPECT_EQ(
      w.text(),
      "gelu at node 'y' (Mul): it matches, and is refused: a value inside the match is a graph output\n  it would apply if 'm' were no graph output");
  auto h = graph_of(gelu("e = Erf(d)\n s = Relu(e)", "0.5", "y, s"));
  EXPECT_EQ(ask(*h, kGelu, "y").would_do, (std::vector<std::string>{"'e' had no other user: used by 's' (Relu)"}));
}

TEST(Why, ANearMissMeetsTheGuardsToo) {
  auto g = graph_of(gelu("c = Cast(d, to=1)\n e = Erf(c)", "0.5", "y, m"));
  EXPECT_EQ(ask(*g, kGelu, "y").would_do, (std::vector<std::string>{"node 'c' (Cast) were absent", "'m' were no graph output"}));
}

TEST(Why, ReportsTheValuesOfACondition) {
  auto g = graph_of("graph main(x: f32[b,4]) {\n y = Relu(x)\n return y\n}\n");
  constexpr Rule rule{.name = "r", .docs = "", .equation = "Relu(?x) => Abs(?x) where rank(?x) == 3, float(?x)"};
  EXPECT_EQ(
      ask(*g, rule, "y").text(),
      "r at node 'y' (Relu): it does not match (2 of 2 parts do)\n  matched:  'y' (Relu)\n  expected: rank(?x) == 3\n  found:    left side 2, ?x is f32[b,4] graph"
      " input 'x'\n  it would match if rank(?x) == 3 held (left side 2, ?x is f32[b,4] graph input 'x')");
}

TEST(Why, ReportsAttributesAndOperands) {
  auto g = graph_of(
      "graph main(x: f32[b,4], z: f32[b,4]) {\n const l: f32[] = [0]\n s = Softmax(x)\n a = Add(x, z)\n c = Clip(x, l, l)\n return s, a, c\n}\n");
  constexpr Rule soft{.name = "r", .docs = "", .equation = "Softmax(?x, axis=0) => Abs(?x)"};
  EXPECT_EQ(ask(*g, soft, "s").would_do, (std::vector<std::string>{"'s' (Softmax) had axis=0 (found axis=-1 (its default))"}));
  constexpr Rule twice{.name = "r", .docs = "", .equation = "Add(?x, ?x) => Abs(?x)"};
  EXPECT_EQ(ask(*g, twice, "a").would_do, (std::vector<std::string>{"graph input 'z' and graph input 'x' were the same value"}));
  constexpr Rule clip{.name = "r", .docs = "", .equation = "Clip(?x, 0) => Abs(?x)"};
  EXPECT_EQ(ask(*g, clip, "c").would_do, (std::vector<std::string>{"'c' (Clip) had another number of operands (3 operands)"}));
  EXPECT_EQ(ask(*g, clip, "a").text(), "r at node 'a' (Add): it starts at Clip(?x, 0), not at 'a' (Add)");
}

TEST(Why, ReportsWhatTheCallerForbids) {
  auto g = graph_of("graph main(x: f32[b,4]) {\n y = Relu(x)\n return y\n}\n");
  constexpr Rule rule{.name = "r", .docs = "", .equation = "Relu(?x) => Abs(?x)", .numerics = Numerics::approximate};
  const std::set<std::string, std::less<>> keep = {"y"};
  WhyOptions options;
  options.keep = &keep;
  EXPECT_EQ(ask(*g, rule, "y", options).would_do,
            (std::vector<std::string>{"node 'y' (Relu) were not kept by name", "approximate rules were allowed"}));
}

TEST(Why, ARefusalWhileBuildingIsFoundOnACopy) {
  auto g = graph_of("graph main(x: f32[b,4]) {\n y = Neg(x)\n return y\n}\n");
  constexpr Rule rule{.name = "r", .docs = "", .equation = "Neg(?x) => ReduceSum(?x)"};
  const Why w = ask(*g, rule, "y");
  EXPECT_EQ(w.outcome, Why::Outcome::refused) << w.text();
  EXPECT_FALSE(w.reason.empty());
  EXPECT_EQ(ops_of(*g), "Neg");
}

bool code_match(Match& m) {
  const NodeId inner = m.take(m.operand(m.root(), 0), "Relu");
  if (!inner) return false;
  if (!m.producer(m.operand(inner, 0), "Exp")) return false;
  if (m.rank(m.result(m.root())) != 3) return m.refuse("the rank is not 3", m.result(m.root()));
  return true;
}
bool code_rewrite(const Match&, Rewriter&) { return false; }

TEST(Why, CodeRulesReportFailedQueries) {
  constexpr Rule rule{.name = "r", .docs = "", .roots = "Neg", .match = code_match, .rewrite = code_rewrite};
  auto g = graph_of(
      "graph main(x: f32[b,4]) {\n t = Tanh(x)\n r = Relu(t)\n y = Neg(r)\n e = Exp(x)\n s = Relu(e)\n z = Neg(s)\n return y, z\n}\n");
  EXPECT_EQ(ask(*g, rule, "y").text(),
            "r at node 'y' (Neg): it does not match\n  matched:  'y' (Neg), 'r' (Relu)\n  expected: Exp\n  found:    't' (Tanh)");
  EXPECT_EQ(
      ask(*g, rule, "z").text(),
      "r at node 'z' (Neg): it does not match\n  matched:  'z' (Neg), 's' (Relu)\n  reason:   the rank is not 3\n  at:       'z' (Neg)");
  EXPECT_EQ(ask(*g, rule, "t").outcome, Why::Outcome::elsewhere);
}

TEST(Why, TheDeepestMatchesOfAGraphComeFirst) {
  auto g = graph_of(
      "graph main(c: bool[], x: f32[4]) {\n  p = Mul(x, x)\n y = If(c) then_branch={ graph(h: f32[4]) { const half: f32[] = [0.5]\n q = Mul(h, h)\n m = Mul(q, half)\n"
      " return m } } captures=[x] else_branch={ graph(h: f32[4]) { d = Abs(h)\n return d } } captures=[x]\n return y, p\n}\n");
  auto rule = compile(kGelu, ops::table());
  const auto all = best_partial_matches(*g, **rule, 10);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].node, "node 'm' (Mul)") << "in a body";
  EXPECT_GT(all[0].depth, all[1].depth);
  EXPECT_EQ(best_partial_matches(*g, **rule, 1).size(), 1u);
}

}  // namespace
}  // namespace tenon::tests
