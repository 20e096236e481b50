// SPDX-License-Identifier: Apache-2.0
#include "rewrite/equation/pattern_graph.h"

#include "helpers.h"
#include "ir/builder.h"

namespace tenon::tests {
namespace {

using namespace rewrite;

RulePtr rule_of(Result<Equation> equation) {
  if (!equation) ADD_FAILURE() << equation.error().text();
  auto rule = std::make_shared<CompiledRule>();
  rule->name = "pair";
  if (equation) rule->equation = std::move(*equation);
  return rule;
}

RulePtr rule_of(const ir::Graph& match, const ir::Graph& apply, const PatternGraphOptions& options = {}) {
  return rule_of(equation_of(match, apply, options));
}

std::string after(const RulePtr& rule, std::string_view text) {
  auto g = graph_of(text);
  const RuleSet set({rule}, ops::table());
  const auto stats = rewrite::rewrite(*g, set);
  EXPECT_TRUE(stats.has_value());
  EXPECT_TRUE(ir::verify(*g).has_value());
  return ops_of(*g);
}

/// The same for patterns as text.
std::string after(std::string_view match, std::string_view apply, std::string_view text, const PatternGraphOptions& options = {}) {
  return after(rule_of(*graph_of(match), *graph_of(apply), options), text);
}

std::string error_of(std::string_view match, std::string_view apply) {
  const auto equation = equation_of(*graph_of(match), *graph_of(apply));
  return equation ? "" : equation.error().text();
}

constexpr std::string_view kNeg = "graph m(x: f32[*]) {\n y = Neg(x)\n return y\n}\n";

TEST(PatternGraph, TwoGraphsFromTheBuilderAreARule) {
  ir::Graph match(ops::table()), apply(ops::table());
  ir::Builder m(match), a(apply);
  const ir::ValueId x = match.add_input("x", ir::Type(DType::f32));
  match.add_output(m("Mul", {x, m("Sigmoid", {x})}));
  apply.add_output(a("Swish", {apply.add_input("x", ir::Type(DType::f32))}));
  Result<Equation> equation = equation_of(match, apply);
  const RulePtr swish = rule_of(std::move(equation));
  EXPECT_EQ(after(swish, "graph g(a: f16[b,4]) {\n s = Sigmoid(a)\n y = Mul(s, a)\n return y\n}\n"), "Swish");
  EXPECT_EQ(after(swish, "graph g(a: f32[4], c: f32[4]) {\n s = Sigmoid(a)\n y = Mul(s, c)\n return y\n}\n"), "Sigmoid Mul");
}

TEST(PatternGraph, ConstantsCompareByValueAndFollowTheDtype) {
  const auto m = "graph m(x: f32[*]) {\n const c: f32[1] = [0.5]\n y = Mul(x, c)\n return y\n}\n";
  const auto a = "graph a(x: f32[*]) {\n const c: f32[] = 2\n y = Div(x, c)\n return y\n}\n";
  EXPECT_EQ(after(m, a, "graph g(x: f16[4]) {\n const c: f16[] = 0.5\n y = Mul(x, c)\n return y\n}\n"), "Div");
  EXPECT_EQ(after(m, a, "graph g(x: f32[4]) {\n const c: f32[] = 0.25\n y = Mul(x, c)\n return y\n}\n"), "Mul");
}

TEST(PatternGraph, IntegersCompareElementByElementAndKeepTheirType) {
  const auto m = "graph m(x: f32[4,4]) {\n const i: i64[2] = [1, 0]\n y = Gather(x, i)\n return y\n}\n";
  const auto a = "graph a(x: f32[4,4]) {\n const i: i64[2] = [1, 0]\n z = Neg(x)\n y = Gather(z, i)\n return y\n}\n";
  EXPECT_EQ(after(m, kNeg, "graph g(x: f32[2,4]) {\n const i: i64[2] = [1, 0]\n y = Gather(x, i)\n return y\n}\n"), "Neg");
  EXPECT_EQ(after(m, kNeg, "graph g(x: f32[2,4]) {\n const i: i64[2] = [0, 1]\n y = Gather(x, i)\n return y\n}\n"), "Gather");
  const auto equation = equation_of(*graph_of(m), *graph_of(a));
  ASSERT_TRUE(equation.has_value());
}

TEST(PatternGraph, OtherTensorsCompareWithTheirShape) {
  const auto m = "graph m(x: f32[2,2]) {\n const w: f32[2,2] = [1, 2, 3, 4]\n y = Add(x, w)\n return y\n}\n";
  EXPECT_EQ(after(m, kNeg, "graph g(x: f32[2,2]) {\n const w: f32[2,2] = [1, 2, 3, 4]\n y = Add(w, x)\n return y\n}\n"), "Neg");
  EXPECT_EQ(after(m, kNeg, "graph g(x: f32[2,2]) {\n const w: f32[2,2] = [1, 2, 3, 5]\n y = Add(x, w)\n return y\n}\n"), "Add");
  EXPECT_EQ(after(m, kNeg, "graph g(x: f32[4,4]) {\n const w: f32[4] = [1, 2, 3, 4]\n y = Add(x, w)\n return y\n}\n"), "Add");
}

TEST(PatternGraph, AttributesLeftOutMeanTheirDefault) {
  const auto m = "graph m(x: f32[4,4]) {\n y = Softmax(x)\n return y\n}\n";
  EXPECT_EQ(after(m, kNeg, "graph g(x: f32[4,4]) {\n y = Softmax(x, axis=-1)\n return y\n}\n"), "Neg");
  EXPECT_EQ(after(m, kNeg, "graph g(x: f32[4,4]) {\n y = Softmax(x, axis=0)\n return y\n}\n"), "Softmax");
  EXPECT_EQ(after(m, kNeg, "graph g(x: f32[4,4]) {\n y = Softmax(x, axis=0)\n return y\n}\n", {.compare_attributes = false}), "Neg");
}

TEST(PatternGraph, TransposeWithoutOrderReversesAllAxes) {
  const auto m = "graph m(x: f32[4,4]) {\n y = Transpose(x)\n return y\n}\n";
  EXPECT_EQ(after(m, kNeg, "graph g(x: f32[3,3,3]) {\n y = Transpose(x, perm=[2,1,0])\n return y\n}\n"), "Neg");
  EXPECT_EQ(after(m, kNeg, "graph g(x: f32[3,3,3]) {\n y = Transpose(x, perm=[0,2,1])\n return y\n}\n"), "Transpose");
}

TEST(PatternGraph, SeveralRootsAndASharedNodeOnBothSides) {
  const auto m = "graph m(x: f32[*], y: f32[*]) {\n t = Add(x, y)\n a = Neg(t)\n b = Abs(t)\n return a, b\n}\n";
  const auto a = "graph a(x: f32[*], y: f32[*]) {\n t = Sub(x, y)\n a = Abs(t)\n b = Neg(t)\n return a, b\n}\n";
  EXPECT_EQ(after(m, a, "graph g(p: f32[4], q: f32[4]) {\n t = Add(p, q)\n b = Abs(t)\n a = Neg(t)\n return a, b\n}\n"), "Sub Abs Neg");
}

TEST(PatternGraph, ResultsOfOneNodeAreMadeByOneNode) {
  const auto m = "graph m(x: f32[4]) {\n a, b = Split(x, num_outputs=2)\n y = Add(a, b)\n return y\n}\n";
  const auto a = "graph a(x: f32[4]) {\n a, b = Split(x, num_outputs=2)\n y = Sub(a, b)\n return y\n}\n";
  EXPECT_EQ(after(m, a, "graph g(x: f32[6]) {\n a, b = Split(x, num_outputs=2)\n y = Add(b, a)\n return y\n}\n"), "Split Sub");
}

TEST(PatternGraph, MissingOperandsStayMissing) {
  const auto m = "graph m(x: f32[*], top: f32[]) {\n y = Clip(x, _, top)\n return y\n}\n";
  EXPECT_EQ(after(m, kNeg, "graph g(x: f32[4], t: f32[]) {\n y = Clip(x, _, t)\n return y\n}\n"), "Neg");
  EXPECT_EQ(after(m, kNeg, "graph g(x: f32[4], t: f32[]) {\n y = Clip(x, t, t)\n return y\n}\n"), "Clip");
}

TEST(PatternGraph, InputsOfTheReplacementGoByNameOrByPlace) {
  const auto m = "graph m(x: f32[*], y: f32[*]) {\n z = Mul(x, y)\n return z\n}\n";
  const auto g = "graph g(p: f32[4], q: f32[4]) {\n z = Mul(p, q)\n return z\n}\n";
  const auto by_name = rule_of(*graph_of(m), *graph_of("graph a(y: f32[*], x: f32[*]) {\n z = Sub(x, y)\n return z\n}\n"));
  EXPECT_EQ(by_name->equation->terms[by_name->equation->right[0]].operands.size(), 2u);
  EXPECT_EQ(by_name->equation->terms[by_name->equation->terms[by_name->equation->right[0]].operands[0]].variable, 0);
  EXPECT_EQ(after(rule_of(*graph_of(m), *graph_of("graph a(s: f32[*], t: f32[*]) {\n z = Sub(s, t)\n return z\n}\n")), g), "Sub");
}

TEST(PatternGraph, ErrorNamesWhatDoesNotFit) {
  const auto x = "graph m(x: f32[*]) {\n return x\n}\n";
  EXPECT_NE(error_of(x, kNeg).find("must be the result of an op"), std::string::npos);
  const auto two = "graph m(x: f32[*]) {\n y = Neg(x)\n return y, y as z\n}\n";
  EXPECT_NE(error_of(kNeg, two).find("another number of outputs"), std::string::npos);
  const auto other = "graph a(p: f32[*], q: f32[*]) {\n y = Add(p, q)\n return y\n}\n";
  EXPECT_NE(error_of(kNeg, other).find("the pattern has no such input"), std::string::npos);
  const auto unused = "graph m(x: f32[*], y: f32[*]) {\n z = Neg(x)\n return z\n}\n";
  EXPECT_NE(error_of(unused, "graph a(x: f32[*], y: f32[*]) {\n z = Neg(y)\n return z\n}\n").find("does not use"), std::string::npos);
  const auto random = "graph m(x: f32[4]) {\n z = RandomNormalLike(x)\n return z\n}\n";
  EXPECT_NE(error_of(random, kNeg).find("another result each time"), std::string::npos);
}

TEST(PatternGraph, TheKthNodeOfTheMatchIsTheKthVisit) {
  const auto m = graph_of("graph m(x: f32[*], y: f32[*]) {\n a = Neg(x)\n b = Abs(y)\n c = Sub(a, b)\n return c\n}\n");
  std::string names;
  for (ir::NodeId n : visit_order(*m)) names += m->node(n).op->name + " ";
  EXPECT_EQ(names, "Sub Neg Abs ");
}

}  // namespace
}  // namespace tenon::tests
