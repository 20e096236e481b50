// SPDX-License-Identifier: Apache-2.0
#include "rewrite/equation.h"

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
    testing::Values(Try{"variable_twice", "Add(?a, ?a) => Neg(?a)", "y = Add(x, x)", "Neg"},
                    Try{"variable_twice_differs", "Add(?a, ?a) => Neg(?a)", "y = Add(x, z)", "Add"},
                    Try{"commutative", "Add(?a, Relu(?b)) => Neg(?a)", "r = Relu(z)\n y = Add(r, x)", "Neg"},
                    Try{"not_commutative", "Sub(?a, Relu(?b)) => Neg(?a)", "r = Relu(z)\n y = Sub(r, x)", "Relu Sub"},
                    Try{"constant_compares", "Mul(?a, 0.5) => Neg(?a)", "const c: f32[] = [0.25]\n y = Mul(x, c)", "Mul"},
                    Try{"constant_splat", "Mul(?a, 0.5) => Neg(?a)", "const c: f32[4] = [0.5, 0.5, 0.5, 0.5]\n y = Mul(x, c)", "Neg"},
                    Try{"constant_no_splat", "Mul(?a, 0.5) => Neg(?a)", "const c: f32[4] = [0.5, 0.5, 0.5, 1]\n y = Mul(x, c)", "Mul"},
                    Try{"attribute_exact", "Softmax(?a, axis=0) => Neg(?a)", "y = Softmax(x, axis=1)", "Softmax"},
                    Try{"attribute_default", "Softmax(?a, axis=-1) => Neg(?a)", "y = Softmax(x)", "Neg"},
                    Try{"alternatives", "Add((Abs(?a) | Neg(?a)), ?b) => Sub(?b, ?a)", "n = Neg(x)\n y = Add(n, z)", "Sub"},
                    Try{"backtracking", "Add(Relu(?a), Relu(Neg(?a))) => Neg(?a)", "n = Neg(x)\n p = Relu(n)\n q = Relu(x)\n y = Add(p, q)",
                        "Neg"},
                    Try{"other_arity", "Clip(?a, 0) => Neg(?a)", "const l: f32[] = [0]\n const h: f32[] = [1]\n y = Clip(x, l, h)", "Clip"},
                    Try{"optional_missing", "Clip(?a, 0, ?h?) => Neg(?a)", "const l: f32[] = [0]\n y = Clip(x, l)", "Neg"},
                    Try{"condition_holds", "Add(?a, ?b) => Neg(?a) where same_type(?a, ?b), rank(?a) == 2", "y = Add(x, z)", "Neg"},
                    Try{"condition_fails", "Add(?a, ?b) => Neg(?a) where rank(?a) < 2", "y = Add(x, z)", "Add"},
                    Try{"condition_negated", "Add(?a, ?b) => Neg(?a) where not constant(?b)", "y = Add(x, z)", "Neg"},
                    Try{"dim", "Add(?a, ?b) => Neg(?a) where dim(?a, -1) == 4", "y = Add(x, z)", "Neg"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Equation, SeveralRootsAreReplacedTogether) {
  auto g = graph_of("graph main(x: f32[b,4]) {\n s = Sin(x)\n c = Cos(x)\n y = Add(s, c)\n return y\n}\n");
  constexpr Rule rule{.name = "pair", .docs = "", .equation = "Sin(?x), Cos(?x) => Neg(?x), Abs(?x)"};
  EXPECT_EQ(run(*g, {&rule}).rules[0].applied, 1);
  EXPECT_EQ(ops_of(*g), "Neg Abs Add");
}

TEST(Equation, ComputedAttributes) {
  auto g = graph_of("graph main(x: f32[2,3,4]) {\n t = Transpose(x, perm=[1,2,0])\n y = Transpose(t, perm=[2,1,0])\n return y\n}\n");
  constexpr Rule rule{
      .name = "compose", .docs = "", .equation = "Transpose(Transpose(?x, perm=?p), perm=?q) => Transpose(?x, perm=compose(?p, ?q))"};
  run(*g, {&rule});
  ASSERT_EQ(ops_of(*g), "Transpose");
  EXPECT_EQ(g->node(g->first()).attributes.ints("perm"), (ir::Ints{0, 2, 1}));
}

}  // namespace
}  // namespace tenon::tests
