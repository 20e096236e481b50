// SPDX-License-Identifier: Apache-2.0
#include "rewrite/compile/rules_file.h"

#include <fmt/format.h>

#include "helpers.h"
#include "rewrite/equation/functions.h"

namespace tenon::tests {
namespace {

using rewrite::read_rules;

std::string error_of(std::string_view text) {
  auto rules = read_rules(text, "my.rules", ops::table());
  return rules ? "" : rules.error().text();
}

TEST(RulesFile, OneEquationAloneIsAFile) {
  auto rules = read_rules("gelu_erf: Mul(Mul(?x, Add(Erf(Div(?x, 1.4142135)), 1)), 0.5) => Gelu(?x)", "f", ops::table());
  ASSERT_TRUE(rules) << rules.error().text();
  ASSERT_EQ(rules->size(), 1u);
  EXPECT_EQ((*rules)[0]->name, "gelu_erf");
  EXPECT_EQ((*rules)[0]->benefit, 1);
  EXPECT_EQ((*rules)[0]->numerics, rewrite::Numerics::exact);
}

TEST(RulesFile, KeepsDocsSetsAndNumerics) {
  auto rules = read_rules(
      "# of the file\n\nset a b\nnumerics approximate\n# first line,\r\n#   second line\nr [benefit -7, shared, seeds One Two]:\n Neg(?x)\n=>"
      " Abs(?x) # after\nnumerics exact set c\ns [numerics reassociating]: Abs(?x) => Neg(?x)\nset : Relu(?x) => ?x",
      "f", ops::table());
  ASSERT_TRUE(rules) << rules.error().text();
  ASSERT_EQ(rules->size(), 3u);
  const auto& r = *(*rules)[0];
  EXPECT_EQ(r.docs, "first line, second line");
  EXPECT_EQ(r.sets, "a b");
  EXPECT_EQ(r.covered_patterns, "One Two");
  EXPECT_EQ(r.benefit, -7);
  EXPECT_TRUE(r.allow_outside_uses);
  EXPECT_EQ(r.numerics, rewrite::Numerics::approximate);
}

TEST(RulesFile, AnEmptyFileHasNoRules) {
  EXPECT_EQ(read_rules("", "f", ops::table())->size(), 0u);
  EXPECT_EQ(read_rules(" # nothing\n\n", "f", ops::table())->size(), 0u);
}

struct Wrong {
  std::string_view name, text, message;
};
class Mistakes : public testing::TestWithParam<Wrong> {};
TEST_P(Mistakes, ErrorsNameTheirPlace) { EXPECT_EQ(error_of(GetParam().text), GetParam().message); }
INSTANTIATE_TEST_SUITE_P(
    Cases, Mistakes,
    testing::Values(
        Wrong{"op", "ok: Neg(?x) => Abs(?x)\n\nbad:\n  Realu(?x) => ?x",
              "error[TN300] at my.rules:4:3: not supported yet: op Realu\n    Realu(?x) => ?x\n    ^\n  try:      Relu"},
        Wrong{
            "no_op_left", "bad: ?x => Neg(?x)",
            "error[TN130] at my.rules:1:6: the left side must start with an op\n  bad: ?x => Neg(?x)\n       ^\n  expected: Op(...)\n  try:      a pattern looks for"
            " nodes: name the op that they have"},
        Wrong{
            "unbound", "bad: Mul(?scael, ?y) => Neg(?scale)",
            "error[TN130] at my.rules:1:30: ?scale is not bound\n  bad: Mul(?scael, ?y) => Neg(?scale)\n                               ^\n  expected: a name that the left"
            " side binds\n  try:      ?scael"},
        Wrong{
            "arity", "bad: Neg(?x, ?y) => Neg(?x)",
            "error[TN130] at my.rules:1:6: Neg has another number of operands\n  bad: Neg(?x, ?y) => Neg(?x)\n       ^\n  expected: 1\n  found:    2\n  try:      what the"
            " op says as an attribute is written name=value"},
        Wrong{
            "arity_right", "bad: Neg(?x) => Add(?x)",
            "error[TN130] at my.rules:1:17: Add has another number of operands\n  bad: Neg(?x) => Add(?x)\n                  ^\n  expected: 2\n  found:    1\n  try:      ?name"
            " stands for any operand"},
        Wrong{
            "attribute", "bad: Softmax(?x, axes=1) => ?x",
            "error[TN130] at my.rules:1:18: Softmax has no attribute axes\n  bad: Softmax(?x, axes=1) => ?x\n                   ^\n  expected: one of axis\n  try:      axis"},
        Wrong{
            "attribute_kind", "bad: Softmax(?x, axis=\"last\") => ?x",
            "error[TN130] at my.rules:1:18: attribute axis of Softmax has another kind\n  bad: Softmax(?x, axis=\"last\") => ?x\n                   ^\n  expected: int\n  found:    \"last\""},
        Wrong{
            "predicate", "bad: Neg(?x) => ?x where flaot(?x)",
            "error[TN130] at my.rules:1:26: there is no function flaot\n  bad: Neg(?x) => ?x where flaot(?x)\n                           ^\n  expected: a function or a"
            " predicate\n  found:    flaot\n  try:      float"},
        Wrong{
            "arguments", "bad: Neg(?x) => ?x where dim(?x) == 1",
            "error[TN130] at my.rules:1:26: dim has another number of arguments\n  bad: Neg(?x) => ?x where dim(?x) == 1\n                           ^\n  expected: dim(?x, axis)\n  found:    1"},
        Wrong{"duplicate", "r: Neg(?x) => ?x\nr: Abs(?x) => ?x",
              "error[TN130] at my.rules:2:1: rule r is there already, in line 1\n  r: Abs(?x) => ?x\n  ^\n  try:      another name"},
        Wrong{
            "nameless", "Neg(?x) => ?x",
            "error[TN130] at my.rules:1:4: equation\n  Neg(?x) => ?x\n     ^\n  expected: ':' or '[' after the name of a rule\n  found:    '(?x) => ?x'\n  try:      Neg: Op(...) =>"
            " ..."},
        Wrong{
            "class_typo", "numerics exakt",
            "error[TN130] at my.rules:1:10: equation\n  numerics exakt\n           ^\n  expected: exact, reassociating or approximate\n  found:    "
            "'exakt'\n  try:      exact"},
        Wrong{
            "roots", "bad: Sin(?x), Cos(?y) => ?x, ?y",
            "error[TN130] at my.rules:1:6: root 2 has no ?name in common with the roots before it\n  bad: Sin(?x), Cos(?y) => ?x, ?y\n       ^\n  try:      roots of one"
            " rule are found from values that they share"},
        Wrong{
            "value_as_attribute", "bad: Add(?x, ?e) => LayerNormalization(?x, ?x, epsilon=?e)",
            "error[TN130] at my.rules:1:48: attribute epsilon cannot be the graph value ?e\n  bad: Add(?x, ?e) => LayerNormalization(?x, ?x, epsilon=?e)\n    "
            "                                             ^\n  try:      value(?e) is the number of a constant, ints(?e) its integers"},
        Wrong{"unfinished", "bad: Neg(?x",
              "error[TN130] at my.rules:1:12: equation\n  bad: Neg(?x\n             ^\n  expected: ',' or ')'\n  found:    the end"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(RulesFile, LimitsAreStated) {
  std::string deep = "r: ";
  for (int i = 0; i < 70; ++i) deep += "Neg(";
  EXPECT_NE(error_of(deep).find("terms nest at most 64 levels deep"), std::string::npos);
  EXPECT_NE(error_of("r: Sum(" + std::string(3000, '1') + "?x) => ?x").find("within the range"), std::string::npos);
  std::string wide = "r: Sum(?x";
  for (int i = 0; i < 2000; ++i) wide += ", ?x";
  EXPECT_NE(error_of(wide).find("an equation has at most 1024 terms"), std::string::npos);
  EXPECT_NE(error_of(std::string(rewrite::kMostRuleBytes + 1, ' ')).find("at most 1048576 bytes"), std::string::npos);
  std::string nested = "rank(?x)";
  for (int i = 0; i < 20; ++i) nested = "p(" + nested + ")";
  EXPECT_NE(error_of("predicate p(?x) = ?x + ?x\nr: Neg(?x) => ?x where " + nested).find("definitions written out"), std::string::npos);
  std::string twice = "predicate p0(?x) = rank(?x) + rank(?x)\n";
  for (int i = 1; i < 40; ++i) twice += fmt::format("predicate p{}(?x) = p{}(?x) + p{}(?x)\n", i, i - 1, i - 1);
  EXPECT_NE(error_of(twice).find("at most 1024 parts"), std::string::npos);
}

TEST(RulesFile, TheCallerAddsPredicates) {
  rewrite::UserFunctions user_functions;
  auto odd = std::make_shared<rewrite::CustomFunction>();
  odd->name = "odd_rank";
  odd->call = [](const rewrite::Match& m, std::span<const rewrite::TermValue> a) -> rewrite::Answer {
    const auto rank = m.rank(std::get<ir::ValueId>(a[0]));
    return rank ? rewrite::Answer(rewrite::bool_value(*rank % 2 == 1)) : std::nullopt;
  };
  user_functions.functions.emplace(odd->name, odd);
  auto rules = read_rules("r: Relu(?x) => Abs(?x) where odd_rank(?x)", "f", ops::table(), user_functions);
  ASSERT_TRUE(rules) << rules.error().text();
  for (const auto& [type, after] : {std::pair("f32[a]", "Abs"), std::pair("f32[a,b]", "Relu")}) {
    auto g = graph_of(fmt::format("graph main(x: {}) {{\n y = Relu(x)\n return y\n}}\n", type));
    ASSERT_TRUE(rewrite::rewrite(*g, rewrite::RuleSet(*rules, ops::table())));
    EXPECT_EQ(ops_of(*g), after);
  }
}

}  // namespace
}  // namespace tenon::tests
