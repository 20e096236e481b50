// SPDX-License-Identifier: Apache-2.0
// The decision tree may send away only what the search would refuse, and must send away what differs anywhere.
#include "rewrite/driver/automaton.h"

#include <fmt/format.h>

#include <random>

#include "helpers.h"
#include "ir/builder.h"

namespace tenon::tests {
namespace {

using namespace rewrite;

RulePtr rule_of(const std::string& name, const std::string& text) {
  auto out = std::make_shared<CompiledRule>();
  out->name = name;
  auto equation = Equation::parse(text, ops::table());
  if (!equation) ADD_FAILURE() << equation.error().text();
  else out->equation = std::move(*equation);
  return out;
}

std::vector<uint32_t> candidates_at_end(const ir::Graph& graph, const RuleSet& set) {
  std::vector<uint32_t> out;
  set.candidates(graph, graph.last(), out);
  return out;
}

/// Terms over few ops, so that many match.
std::string random_term(std::mt19937& random, int depth) {
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  if (depth == 0 || pick(4) == 0) {
    switch (pick(4)) {
      case 0: return "0.5";
      case 1: return "1";
      default: return fmt::format("?v{}", pick(3));
    }
  }
  const auto below = [&] { return random_term(random, depth - 1); };
  switch (pick(6)) {
    case 0: return fmt::format("Add({}, {})", below(), below());
    case 1: return fmt::format("Mul({}, {})", below(), below());
    case 2: return fmt::format("Sub({}, {})", below(), below());
    case 3: return fmt::format("(Abs({}) | Neg({}))", below(), below());
    case 4: return fmt::format("LeakyRelu({}, alpha={})", below(), pick(2) ? "0.01" : "0.2");
    default: return fmt::format("Neg({})", below());
  }
}

std::unique_ptr<ir::Graph> random_graph(std::mt19937& random) {
  auto graph = std::make_unique<ir::Graph>(ops::table());
  std::vector<ir::ValueId> values{graph->add_input("x", ir::Type(DType::f32, {4})), graph->add_input("z", ir::Type(DType::f32, {4}))};
  ir::Builder build(*graph);
  values.push_back(build.scalar(DType::f32, 0.5));
  values.push_back(build.scalar(DType::f32, 1));
  const auto any = [&] { return values[random() % values.size()]; };
  for (int i = 0; i < 40; ++i) {
    switch (random() % 6) {
      case 0: values.push_back(build("Add", {any(), any()})); break;
      case 1: values.push_back(build("Mul", {any(), any()})); break;
      case 2: values.push_back(build("Sub", {any(), any()})); break;
      case 3: values.push_back(build("Abs", {any()})); break;
      case 4: values.push_back(random() % 2 ? build("LeakyRelu", {any()}) : build("LeakyRelu", {any()}, {{"alpha", 0.2f}})); break;
      default: values.push_back(build("Neg", {any()}));
    }
  }
  graph->add_output(values.back());
  return graph;
}

TEST(Automaton, EveryMatchOfTheSearchIsACandidate) {
  std::mt19937 random(3);
  std::vector<RulePtr> rules;
  while (rules.size() < 400) {
    const std::string left = random_term(random, 3);
    if (left[0] == '?' || left[0] == '0' || left[0] == '1') continue;
    rules.push_back(rule_of(fmt::format("r{}", rules.size()), left + " => Exp(" + "0.5)"));
  }
  const RuleSet set(rules, ops::table());
  int matches = 0, candidates = 0, tries = 0;
  for (int round = 0; round < 20; ++round) {
    const auto graph = random_graph(random);
    for (ir::NodeId node : graph->nodes()) {
      std::vector<uint32_t> found;
      set.candidates(*graph, node, found);
      candidates += static_cast<int>(found.size());
      for (uint32_t i = 0; i < set.size(); ++i) {
        Match match(*graph, node);
        ++tries;
        if (!set[i].equation->match(match)) continue;
        ++matches;
        ASSERT_TRUE(std::ranges::binary_search(found, i)) << set[i].name << " matches and is no candidate\n" << ir::print(*graph);
      }
    }
  }
  EXPECT_GT(matches, 1000);
  EXPECT_LT(candidates, tries / 4);
}

TEST(Automaton, WhatDiffersBelowTheRootIsNotEvenTried) {
  std::vector<RulePtr> rules;
  for (std::string_view op : {"Exp", "Sin", "Cos", "Tan", "Sqrt", "Log", "Sigmoid", "Tanh"})
    rules.push_back(rule_of(std::string(op), fmt::format("Add(Mul(?x, {}(?y)), 1) => ?x", op)));
  for (int k = 2; k < 100; ++k) rules.push_back(rule_of(fmt::format("c{}", k), fmt::format("Add(Mul(?x, Erf(?y)), {}) => ?x", k)));
  rules.push_back(rule_of("attribute", "Add(Mul(?x, LeakyRelu(?y, alpha=0.5)), 1) => ?x"));
  const RuleSet set(rules, ops::table());
  auto g =
      graph_of("graph main(x: f32[4], y: f32[4]) {\n const c: f32[] = [50]\n a = Erf(y)\n b = Mul(a, x)\n d = Add(c, b)\n return d\n}\n");
  const auto found = candidates_at_end(*g, set);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(set[found[0]].name, "c50");
}

TEST(Automaton, AnEquationWithManyOrdersIsTriedAtItsOpAlone) {
  const std::string erf = "Erf((Div(?x, 1.4142135) | Mul(?x, 0.70710678)))";
  const std::string many =
      fmt::format("(Mul(Mul(?x, Add({0}, 1)), 0.5) | Mul(Mul(?x, 0.5), Add({0}, 1)) | Mul(?x, Mul(Add({0}, 1), 0.5))) => ?x", erf);
  const RuleSet set({rule_of("many", many)}, ops::table());
  auto other = graph_of("graph main(x: f32[4]) {\n y = Neg(x)\n return y\n}\n");
  EXPECT_TRUE(candidates_at_end(*other, set).empty());
  auto near = graph_of("graph main(x: f32[4]) {\n a = Abs(x)\n y = Mul(a, x)\n return y\n}\n");
  EXPECT_TRUE(candidates_at_end(*near, set).empty());
}

TEST(RuleSet, APartOfASetTriesItsOwnRulesOnly) {
  static constexpr Rule anywhere{
      .name = "anywhere", .docs = "", .match = [](Match&) { return false; }, .rewrite = [](const Match&, Rewriter&) { return false; }};
  const auto compiled = compile(anywhere, ops::table());
  ASSERT_TRUE(compiled) << compiled.error().text();
  std::vector<RulePtr> rules{rule_of("a", "Neg(?x) => Exp(?x)"), rule_of("b", "Neg(?x) => Sin(?x)"), *compiled,
                             rule_of("c", "Neg(?x) => Cos(?x)")};
  const RuleSet set(rules, ops::table());
  const RuleSet part = set.where([](const CompiledRule& r) { return r.name != "a"; });
  const RuleSet less = part.where([](const CompiledRule& r) { return r.name != "b"; });
  auto g = graph_of("graph main(x: f32[4]) {\n y = Neg(x)\n return y\n}\n");
  const auto names = [&](const RuleSet& of) {
    std::string out;
    for (uint32_t i : candidates_at_end(*g, of)) out += of[i].name + " ";
    return out;
  };
  EXPECT_EQ(names(set), "a b anywhere c ");
  EXPECT_EQ(names(part), "b anywhere c ");
  EXPECT_EQ(names(less), "anywhere c ");
}

TEST(Automaton, AnOpOfAnotherDomainIsAnotherOp) {
  const RuleSet set({rule_of("gelu", "Neg(Gelu(?x)) => ?x")}, ops::table());
  auto g = graph_of("graph main(x: f32[4]) {\n a = Gelu(x)\n y = Neg(a)\n return y\n}\n");
  EXPECT_EQ(candidates_at_end(*g, set).size(), 1u);
}

}  // namespace
}  // namespace tenon::tests
