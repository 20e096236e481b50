// SPDX-License-Identifier: Apache-2.0
// Rules that look and do not touch.
#include "rewrite/driver/analyse.h"

#include <stdexcept>

#include "helpers.h"
#include "rewrite/match.h"

namespace tenon::tests {
namespace {

using namespace rewrite;
using Seen = std::vector<std::string>;

constexpr std::string_view kWithBody =
    "graph main(c: bool[], x: f32[4]) {\n  a = Relu(x)\n  y = If(c) then_branch={ graph(h: f32[4]) { d = Neg(h)\n return d } } captures=[a] "
    "else_branch={ graph(e: f32[4]) { b = Relu(e)\n return b } } captures=[a]\n z = Neg(y)\n return z\n}\n";

std::string op_of(const Match& m) { return m.node(m.root()).op->name; }

/// Writes down the op of every node that it is shown.
std::shared_ptr<CompiledRule> watcher(std::string name, Seen& seen, std::vector<std::string> roots = {}, int benefit = 1) {
  auto rule = std::make_shared<CompiledRule>();
  rule->name = name;
  rule->roots = std::move(roots);
  rule->benefit = benefit;
  rule->analyse = [&seen, name](const Match& m) { seen.push_back(name + op_of(m)); };
  return rule;
}

Result<int64_t> run_over(const ir::Graph& graph, std::vector<RulePtr> rules, const std::any* args = nullptr) {
  return analyse(graph, RuleSet(std::move(rules), ops::table()), args);
}

TEST(Analyse, ShowsEveryNodeOnceInOrderAndBodiesToo) {
  const auto g = graph_of(kWithBody);
  Seen seen;
  const auto count = run_over(*g, {watcher("", seen)});
  ASSERT_TRUE(count);
  EXPECT_EQ(*count, 5);
  EXPECT_EQ(seen, (Seen{"Relu", "Neg", "Relu", "If", "Neg"}));
}

TEST(Analyse, HoldsToRootsAndGoesByBenefit) {
  const auto g = graph_of(kWithBody);
  Seen seen;
  ASSERT_TRUE(run_over(*g, {watcher("low ", seen, {"Relu"}), watcher("high ", seen, {"Relu", "If"}, 2)}));
  EXPECT_EQ(seen, (Seen{"high Relu", "low Relu", "high Relu", "low Relu", "high If"}));
}

TEST(Analyse, CallsMatchOnceAndPassesItsState) {
  const auto g = graph_of(kWithBody);
  int asked = 0, sum = 0;
  auto rule = std::make_shared<CompiledRule>();
  rule->name = "negs";
  rule->match = [&](Match& m) {
    ++asked;
    m.accept(*m.args<int>());
    return op_of(m) == "Neg";
  };
  rule->analyse = [&](const Match& m) { sum += m.state<int>(); };
  const std::any args = 20;
  const auto count = run_over(*g, {rule}, &args);
  ASSERT_TRUE(count);
  EXPECT_EQ(*count, 2);
  EXPECT_EQ(asked, 5);
  EXPECT_EQ(sum, 40);
}

TEST(Analyse, NamesARuleThatThrows) {
  const auto g = graph_of(kWithBody);
  auto rule = std::make_shared<CompiledRule>();
  rule->name = "nosy";
  rule->analyse = [](const Match&) { throw std::runtime_error("cannot look"); };
  const auto count = run_over(*g, {rule});
  ASSERT_FALSE(count);
  EXPECT_EQ(count.error().code(), Code::bad_rule);
  EXPECT_NE(count.error().text().find("nosy threw while analysing: cannot look"), std::string::npos);
}

}  // namespace
}  // namespace tenon::tests
