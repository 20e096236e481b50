// SPDX-License-Identifier: Apache-2.0
// Rules whose two sides are functions over the graph builder.
#include "helpers.h"
#include "ir/builder.h"
#include "rewrite/self_test/self_test.h"
#include "rewrite/why/why.h"

namespace tenon::tests {
namespace {

using namespace rewrite;
using ir::Builder, ir::ValueId;
using Values = std::vector<ValueId>;
using Inputs = std::span<const ValueId>;

Values x_times_sigmoid(Builder& b, Inputs in) { return {b("Mul", {in[0], b("Sigmoid", {in[0]})})}; }
Values swish_of_first(Builder& b, Inputs in) { return {b("Swish", {in[0]})}; }
Values swish_of_second(Builder& b, Inputs in) { return {b("Swish", {in[1]})}; }
Values first(Builder&, Inputs in) { return {in[0]}; }
Values nothing(Builder&, Inputs) { return {{}}; }
Values both(Builder&, Inputs in) { return {in[0], in[0]}; }
Values made_up(Builder& b, Inputs in) { return {b("Swosh", {in[0]})}; }
Values wrong_attribute(Builder& b, Inputs in) { return {b("Concat", {in[0], in[0]})}; }

constexpr Rule kSwish{.name = "swish",
                      .docs = "",
                      .pattern_inputs = "x",
                      .match_pattern = x_times_sigmoid,
                      .apply_pattern = swish_of_first,
                      .where = "rank(?x) == 2",
                      .numerics = Numerics::reassociating};

RulePtr compiled(const Rule& rule) {
  auto out = compile(rule, ops::table());
  if (!out) ADD_FAILURE() << out.error().text();
  return out ? *out : nullptr;
}

std::string after(std::string_view text) {
  auto g = graph_of(text);
  run(*g, {&kSwish});
  return ops_of(*g);
}

Rule with(Pattern match, Pattern apply, std::string_view inputs = "x", std::string_view where = {}) {
  return {.name = "wrong", .docs = "", .pattern_inputs = inputs, .match_pattern = match, .apply_pattern = apply, .where = where};
}

Error error_of(const Rule& rule) {
  auto out = compile(rule, ops::table());
  return out ? fail(Code::internal, "", "no error") : out.error();
}

TEST(BuilderStyle, MatchesAsItsEquationDoes) {
  EXPECT_EQ(after("graph g(a: f32[b,4]) {\n s = Sigmoid(a)\n y = Mul(s, a)\n return y\n}\n"), "Swish") << "operands in any order";
  EXPECT_EQ(after("graph g(a: f32[2,4], c: f32[2,4]) {\n s = Sigmoid(a)\n y = Mul(s, c)\n return y\n}\n"), "Sigmoid Mul");
  EXPECT_EQ(after("graph g(a: f32[b,4]) {\n s = Sigmoid(a)\n y = Mul(s, a)\n return y, s\n}\n"), "Sigmoid Mul") << "used outside";
}

TEST(BuilderStyle, ConditionsHold) {
  EXPECT_EQ(after("graph g(a: f32[4]) {\n s = Sigmoid(a)\n y = Mul(s, a)\n return y\n}\n"), "Sigmoid Mul");
}

TEST(BuilderStyle, AutomatonOffersItOnlyAtItsOps) {
  const RuleSet set({compiled(kSwish)}, ops::table());
  const auto g = graph_of("graph g(a: f32[2,4]) {\n s = Sigmoid(a)\n y = Mul(s, a)\n z = Mul(y, y)\n return z\n}\n");
  std::vector<uint32_t> offered;
  size_t nodes = 0;
  for (ir::NodeId n : g->nodes()) {
    set.candidates(*g, n, offered);
    nodes += offered.size();
  }
  EXPECT_EQ(nodes, 1u);
}

TEST(BuilderStyle, WhyNotAndSelfTestsCoverItsParts) {
  const auto g = graph_of("graph g(a: f32[2,4]) {\n t = Tanh(a)\n y = Mul(t, a)\n return y\n}\n");
  const Why w = why(*g, *compiled(kSwish), g->value(g->find_value("y")).producer);
  EXPECT_EQ(w.outcome, Why::Outcome::no_match);
  EXPECT_EQ(w.expected, "Sigmoid(?x)") << w.text();
  const SelfTestResult t = self_test(*compiled(kSwish), ops::table());
  EXPECT_EQ(t.faults, std::vector<std::string>());
  EXPECT_GE(t.instances, 1);
  EXPECT_GE(t.mutants, 1);
}

TEST(BuilderStyle, TheReplacementMayUseOnlyWhatThePatternFinds) {
  const Error e = error_of(with(x_times_sigmoid, swish_of_second, "x y"));
  EXPECT_EQ(e.code(), Code::bad_rule);
  EXPECT_EQ(e->place, "wrong");
  EXPECT_NE(e->what.find("y: the replacement uses an input that the pattern does not use"), std::string::npos) << e.text();
  EXPECT_EQ(e->expected, "x");
  EXPECT_EQ(e->found, "y");
  EXPECT_NE(e->advice, "");
}

TEST(BuilderStyle, ErrorNamesTheFaultyGraph) {
  const auto report = [](const Rule& rule, Code code, std::string_view part) {
    const Error e = error_of(rule);
    EXPECT_EQ(e.code(), code) << e.text();
    EXPECT_NE(e.text().find(part), std::string::npos) << e.text();
  };
  report(with(x_times_sigmoid, nullptr), Code::bad_rule, "match_pattern alone");
  report(with(x_times_sigmoid, nothing), Code::bad_rule, "apply_pattern answers with a value that is not in its graph");
  report(with(x_times_sigmoid, both), Code::bad_rule, "another number of outputs");
  report(with(first, swish_of_first), Code::bad_rule, "must be the result of an op");
  report(with(x_times_sigmoid, first, "x y"), Code::bad_rule, "pattern_inputs: neither side uses y");
  report(with(x_times_sigmoid, first, "x", "rank(?x) == 2 2"), Code::bad_rule, "where");
  report(with(x_times_sigmoid, first, "x", "flat(?x)"), Code::bad_rule, "flat");
  report(with(x_times_sigmoid, made_up), Code::not_supported, "apply_pattern: Swosh: no op of this name");
  report(with(x_times_sigmoid, wrong_attribute), Code::bad_rule, "apply_pattern: ");
}

TEST(BuilderStyle, OneRuleIsWrittenInOneWay) {
  Rule twice = kSwish;
  twice.equation = "Neg(Neg(?x)) => ?x";
  EXPECT_NE(error_of(twice).text().find("written in one way"), std::string::npos);
  const Rule lost{.name = "lost", .docs = "", .equation = "Neg(Neg(?x)) => ?x", .where = "float(?x)"};
  EXPECT_EQ(error_of(lost).code(), Code::bad_rule) << "a condition that nothing would look at";
}

}  // namespace
}  // namespace tenon::tests
