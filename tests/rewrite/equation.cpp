// SPDX-License-Identifier: Apache-2.0
#include "rewrite/equation/equation.h"

#include "helpers.h"

namespace tenon::tests {
namespace {

using rewrite::Equation;
using rewrite::Rule;

std::string error_of(std::string_view text) {
  auto e = Equation::parse(text, ops::table());
  return e ? "" : e.error().text();
}

TEST(Equation, ReadsItsName) {
  auto e = Equation::parse("twice: Neg(Neg(?x)) => ?x", ops::table());
  ASSERT_TRUE(e) << e.error().text();
  EXPECT_EQ(e->name(), "twice");
}

TEST(Equation, ErrorsSayTheColumnAndWhatWasExpected) {
  const std::string text = error_of("Neg(Neg(?x) => ?x");
  EXPECT_NE(text.find("column 13"), std::string::npos) << text;
  EXPECT_NE(text.find("',' or ')'"), std::string::npos) << text;
  EXPECT_NE(error_of("Neg(?x) => ?y").find("left side binds"), std::string::npos);
  EXPECT_NE(error_of("Neg(?x) ?x").find("'=>'"), std::string::npos);
  EXPECT_NE(error_of("Neg(?x), Abs(?x) => ?x").find("2 results"), std::string::npos);
  EXPECT_NE(error_of("Neg(?x) => ?x where nonsense(?x)").find("function"), std::string::npos);
  EXPECT_NE(error_of("?x => ?x").find("must start with an op"), std::string::npos);
}

TEST(Equation, AnUnknownOpIsNotSupported) {
  auto e = Equation::parse("NoSuchOp(?x) => ?x", ops::table());
  ASSERT_FALSE(e);
  EXPECT_EQ(e.error().code(), Code::not_supported);
}

struct Try {
  std::string_view name, equation, body, ops_after;
};
class Matches : public testing::TestWithParam<Try> {};
TEST_P(Matches, AsWritten) {
  const Try& t = GetParam();
  auto g = graph_of("graph main(x: f32[b,4], z: f32[b,4]) {\n" + std::string(t.body) + "\n return y\n}\n");
  const Rule rule{.name = "rule", .docs = "", .equation = t.equation};
  run(*g, {&rule});
  EXPECT_EQ(ops_of(*g), t.ops_after);
}
INSTANTIATE_TEST_SUITE_P(
    Cases, Matches,
    testing::Values(
        Try{"variable_twice", "Add(?a, ?a) => Neg(?a)", "y = Add(x, x)", "Neg"},
        Try{"variable_twice_differs", "Add(?a, ?a) => Neg(?a)", "y = Add(x, z)", "Add"},
        Try{"commutative", "Add(?a, Relu(?b)) => Neg(?a)", "r = Relu(z)\n y = Add(r, x)", "Neg"},
        Try{"not_commutative", "Sub(?a, Relu(?b)) => Neg(?a)", "r = Relu(z)\n y = Sub(r, x)", "Relu Sub"},
        Try{"constant_compares", "Mul(?a, 0.5) => Neg(?a)", "const c: f32[] = [0.25]\n y = Mul(x, c)", "Mul"},
        Try{"constant_splat", "Mul(?a, 0.5) => Neg(?a)", "const c: f32[4] = [0.5, 0.5, 0.5, 0.5]\n y = Mul(x, c)", "Neg"},
        Try{"constant_no_splat", "Mul(?a, 0.5) => Neg(?a)", "const c: f32[4] = [0.5, 0.5, 0.5, 1]\n y = Mul(x, c)", "Mul"},
        Try{"attribute_exact", "Softmax(?a, axis=0) => Neg(?a)", "y = Softmax(x, axis=1)", "Softmax"},
        Try{"attribute_default", "Softmax(?a, axis=-1) => Neg(?a)", "y = Softmax(x)", "Neg"},
        Try{"alternatives", "Add((Abs(?a) | Neg(?a)), ?b) => Sub(?b, ?a)", "n = Neg(x)\n y = Add(n, z)", "Sub"},
        Try{"backtracking", "Add(Relu(?a), Relu(Neg(?a))) => Neg(?a)", "n = Neg(x)\n p = Relu(n)\n q = Relu(x)\n y = Add(p, q)", "Neg"},
        Try{"other_arity", "Clip(?a, 0) => Neg(?a)", "const l: f32[] = [0]\n const h: f32[] = [1]\n y = Clip(x, l, h)", "Clip"},
        Try{"optional_missing", "Clip(?a, 0, ?h?) => Neg(?a)", "const l: f32[] = [0]\n y = Clip(x, l)", "Neg"},
        Try{"condition_holds", "Add(?a, ?b) => Neg(?a) where same_type(?a, ?b), rank(?a) == 2", "y = Add(x, z)", "Neg"},
        Try{"condition_fails", "Add(?a, ?b) => Neg(?a) where rank(?a) < 2", "y = Add(x, z)", "Add"},
        Try{"condition_negated", "Add(?a, ?b) => Neg(?a) where not constant(?b)", "y = Add(x, z)", "Neg"},
        Try{"condition_without_answer", "Clip(?a, 0, ?h?) => Neg(?a) where not float(?h)", "const l: f32[] = [0]\n y = Clip(x, l)", "Clip"},
        Try{"condition_either", "Add(?a, ?b) => Neg(?a) where rank(?a) == 7 or constant(?b) or not integer(?a)", "y = Add(x, z)", "Neg"},
        Try{"sizes_equal_for_all_symbols", "Add(?a, ?b) => Neg(?a) where dim(?a, 0) * 4 == size(?b)", "y = Add(x, z)", "Neg"},
        Try{"sizes_that_may_differ", "Add(?a, ?b) => Neg(?a) where dim(?a, 0) == 4", "y = Add(x, z)", "Add"},
        Try{"sizes_that_may_differ_negated", "Add(?a, ?b) => Neg(?a) where not dim(?a, 0) == 4", "y = Add(x, z)", "Add"},
        Try{"shape_pattern", "Add(?a, ?b) => Neg(?a) where shape(?a) == [_, 4]", "y = Add(x, z)", "Neg"},
        Try{"shape_pattern_dots", "Add(?a, ?b) => Neg(?a) where shape(?a) == [..., 4]", "y = Add(x, z)", "Neg"},
        Try{"shape_pattern_same_twice", "Add(?a, ?b) => Neg(?a) where shape(?a) == [?n, ?n]", "y = Add(x, z)", "Add"},
        Try{"dtype_is", "Add(?a, ?b) => Neg(?a) where dtype(?a) == f32", "y = Add(x, z)", "Neg"},
        Try{"dtype_is_not", "Add(?a, ?b) => Neg(?a) where dtype(?a) == f16", "y = Add(x, z)", "Add"},
        Try{"tolerance_given", "Mul(?a, 0.5~0.1) => Neg(?a)", "const c: f32[] = [0.59]\n y = Mul(x, c)", "Neg"},
        Try{"tolerance_exceeded", "Mul(?a, 0.5~0.1) => Neg(?a)", "const c: f32[] = [0.61]\n y = Mul(x, c)", "Mul"},
        Try{"rest_in_front", "Concat(?a..., Neg(?b), axis=1) => Concat(?a..., ?b, axis=1)", "n = Neg(z)\n y = Concat(x, x, n, axis=1)",
            "Concat"},
        Try{"rest_may_be_empty", "Concat(?a..., Neg(?b), ?c..., axis=1) => Concat(?a..., ?b, ?c..., axis=1)",
            "n = Neg(z)\n y = Concat(n, axis=1)", "Concat"},
        Try{"rest_between", "Concat(?a, ?r..., ?a, axis=1) => Neg(Concat(?r..., ?a, ?a, axis=1))", "y = Concat(x, z, x, axis=1)",
            "Concat Neg"},
        Try{"rest_twice_the_same", "Add(Concat(?r..., axis=1), Concat(?r..., axis=1)) => Neg(Concat(?r..., axis=1))",
            "p = Concat(x, z, axis=1)\n q = Concat(x, z, axis=1)\n y = Add(p, q)", "Concat Neg"},
        Try{"rest_twice_differs", "Add(Concat(?r..., axis=1), Concat(?r..., axis=1)) => Neg(Concat(?r..., axis=1))",
            "p = Concat(x, z, axis=1)\n q = Concat(z, x, axis=1)\n y = Add(p, q)", "Concat Concat Add"},
        Try{"any_operand_of_sum", "Sum(?r..., Neg(?a)) => Sub(Sum(?r...), ?a)", "n = Neg(x)\n y = Sum(z, n, z)", "Sum Sub"},
        Try{"too_many_operands", "Max(?a, ?b) => Neg(?a)", "y = Max(x, z, x)", "Max"},
        Try{"too_few_operands", "Concat(?a, ?b, axis=1) => Neg(?a)", "y = Concat(x, axis=1)", "Concat"},
        Try{"own_default", "Softmax(?a, axis=?k else 0) => Neg(?a) where ?k == 0", "y = Softmax(x)", "Neg"},
        Try{"attribute_of_others", "Softmax(?a, axis=rank(?a) - 1) => Neg(?a)", "y = Softmax(x, axis=1)", "Neg"},
        Try{"attribute_twice", "Add(Softmax(?a, axis=?k), Softmax(?b, axis=?k)) => Neg(?a)",
            "p = Softmax(x, axis=1)\n q = Softmax(z, axis=0)\n y = Add(p, q)", "Softmax Softmax Add"},
        Try{"number_beside_a_bool", "Sub(?a, ?b) => Where(Greater(?a, ?b), 0, ?b)", "y = Sub(x, z)", "Greater Where"},
        Try{"computed_constant", "Mul(?a, ?c) => Add(?a, const(2 * value(?c) + 1)) where splat(?c), value(?c) > 0",
            "const c: f32[] = [0.5]\n y = Mul(x, c)", "Add"},
        Try{"computed_without_answer", "Mul(?a, ?c) => Add(?a, const(2 * ?c)) where float(?c)", "y = Mul(x, z)", "Mul"},
        Try{"list_of_sizes", "Neg(?a) => Reshape(?a, [-1, dim(?a, 1)])", "y = Neg(x)", "Reshape"},
        Try{"list_with_a_symbol", "Neg(?a) => Reshape(?a, const(shape(?a)))", "y = Neg(x)", "Neg"},
        Try{"dim", "Add(?a, ?b) => Neg(?a) where dim(?a, -1) == 4", "y = Add(x, z)", "Neg"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Equation, SeveralRootsAreReplacedTogether) {
  auto g = graph_of("graph main(x: f32[b,4]) {\n s = Sin(x)\n c = Cos(x)\n y = Add(s, c)\n return y\n}\n");
  constexpr Rule rule{.name = "pair", .docs = "", .equation = "Sin(?x), Cos(?x) => Neg(?x), Abs(?x)"};
  EXPECT_EQ(run(*g, {&rule}).rules[0].applied, 1);
  EXPECT_EQ(ops_of(*g), "Neg Abs Add");
}

TEST(Equation, RootsMayBeResultsOfOneNodeOrInnerValues) {
  auto g = graph_of("graph main(x: f32[b,4]) {\n r = Relu(x)\n n = Neg(r)\n return n, r\n}\n");
  constexpr Rule inner{.name = "inner", .docs = "", .equation = "Neg(Relu(?x)), Relu(?x) => Sin(?x), Cos(?x)"};
  EXPECT_EQ(run(*g, {&inner}).rules[0].applied, 1);
  EXPECT_EQ(ops_of(*g), "Sin Cos");
  auto t = graph_of("graph main(x: f32[8], k: i64[1]) {\n n = Neg(x)\n v, i = TopK(n, k)\n return v, i\n}\n");
  constexpr Rule results{.name = "results",
                         .docs = "",
                         .equation = "TopK(Neg(?x), ?k), TopK(Neg(?x), ?k).1 => Neg(TopK(?x, ?k, largest=0)), TopK(?x, ?k, largest=0).1"};
  EXPECT_EQ(run(*t, {&results}).rules[0].applied, 1);
  EXPECT_EQ(ops_of(*t), "TopK Neg");
}

TEST(Equation, ASearchThatTakesForEverIsGivenUp) {
  std::string pattern = "Neg(?y)", text = "graph main(x: f32[4]) {\n v0 = Relu(x)\n";
  for (int i = 0; i < 40; ++i) {
    pattern = "Add(" + pattern + ", " + "?x" + ")";
    text += " v" + std::to_string(i + 1) + " = Add(v" + std::to_string(i) + ", v" + std::to_string(i) + ")\n";
  }
  auto g = graph_of(text + " return v40\n}\n");
  const std::string equation = pattern + " => ?x";
  auto rule = Equation::parse(equation, ops::table());
  ASSERT_TRUE(rule) << rule.error().text();
  rewrite::Match match(*g, g->last());
  EXPECT_FALSE(rule->match(match));
}

}  // namespace
}  // namespace tenon::tests
