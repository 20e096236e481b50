// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "base/expr/expr.h"

namespace tenon {
namespace {

int64_t at_point(const Expr& e, int64_t x0, int64_t x1) {
  ScalarEnvironment env;
  env.axis = [=](int i) { return i == 0 ? x0 : x1; };
  return evaluate(e, env, true).integer;
}

Expr operand(int index, DType dtype) { return Expr::input(index, dtype); }

TEST(Simplify, FoldsConstantsInTheirDType) {
  const auto c = [](double v) { return Expr::constant(DType::f16, v); };
  EXPECT_EQ(simplify(c(2048) + c(1))->float_value, 2048);
  EXPECT_EQ(simplify(Expr::integer(DType::i8, 127) + Expr::integer(DType::i8, 1))->int_value, -128);
  EXPECT_EQ(simplify(operand(0, DType::f32) * 1).text(), "x0");
  EXPECT_EQ(simplify(operand(0, DType::f32) + 0).text(), "add(x0, 0)");  // -0 + 0 is +0
  EXPECT_EQ(simplify(operand(0, DType::f32) * 0).text(), "mul(x0, 0)");
  EXPECT_EQ(simplify(operand(0, DType::i32) * 0).text(), "0");
  EXPECT_EQ(simplify(select(logical_and(operand(0, DType::boolean), Expr::integer(DType::boolean, 0)), operand(1, DType::f32), 2.0)).text(),
            "2");
}

TEST(Simplify, CollectsIndexSums) {
  Symbols symbols;
  const Expr i = Expr::axis(0), j = Expr::axis(1), seq = Expr::dim(symbols.symbol("seq"));
  EXPECT_EQ(simplify((j + i * 4) + 3 - j).text(), "add(mul(i0, 4), 3)");
  EXPECT_EQ(simplify(i * 2 - i * 2).text(), "0");
  EXPECT_EQ(simplify((i * seq + j) * seq).text(), "add(mul(i0, [seq*seq]), mul(i1, [seq]))");
  EXPECT_EQ(simplify((i * 8 + j * 4) / 4).text(), "add(mul(i0, 2), i1)");
  EXPECT_EQ(simplify(logical_and(j - 3 < 0, j - j < 1)).text(), "less(sub(i1, 3), 0)");
}

TEST(Simplify, ExtentsSettleDivisions) {
  Symbols symbols;
  const Dim seq = symbols.symbol("seq");
  const Expr i = Expr::axis(0), j = Expr::axis(1);
  const std::vector<Dim> extents = {seq, 64};
  EXPECT_EQ(simplify((i * 64 + j) / 64, extents).text(), "i0");
  EXPECT_EQ(simplify(binary(ExprOp::mod, i * 64 + j, 64), extents).text(), "i1");
  EXPECT_EQ(simplify((i * 64 + j) / 32, extents).text(), "add(mul(i0, 2), div(i1, 32))");
  EXPECT_EQ(simplify((j * Expr::dim(seq) + i) / Expr::dim(seq), extents).text(), "i1");
  EXPECT_EQ(simplify(logical_and(i < Expr::dim(seq), j >= 0), extents).text(), "true");
  EXPECT_EQ(simplify((i - j) / 64, extents).text(), "div(sub(i0, i1), 64)");
  EXPECT_EQ(simplify(j / 4 / 8).text(), "div(i1, 32)");
}

/// The value must not change, whatever the shape of the expression.
TEST(Simplify, KeepsTheValueOfRandomIndexExpressions) {
  std::mt19937 random(3);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const std::function<Expr(int)> build = [&](int depth) -> Expr {
    if (depth == 0) return pick(3) == 0 ? Expr::integer(DType::i64, pick(11) - 5) : Expr::axis(pick(2));
    const Expr a = build(depth - 1), b = build(depth - 1), k = Expr::integer(DType::i64, pick(6) + 1);
    switch (pick(9)) {
      case 0: return a + b;
      case 1: return a - b;
      case 2: return a * k;
      case 3: return a / k;
      case 4: return binary(ExprOp::mod, a, k);
      case 5: return binary(ExprOp::rem, a, k);
      case 6: return min(a, b);
      case 7: return max(a, b);
      default: return select(a < b, a, b * 2);
    }
  };
  const std::vector<Dim> extents = {5, 7};
  for (int round = 0; round < 3000; ++round) {
    const Expr e = build(1 + round % 4);
    const Expr plain = simplify(e), bounded = simplify(e, extents);
    for (int64_t i = 0; i < 5; ++i) {
      for (int64_t j = 0; j < 7; j += 3) {
        ASSERT_EQ(at_point(plain, i, j), at_point(e, i, j)) << e.text() << " became " << plain.text();
        ASSERT_EQ(at_point(bounded, i, j), at_point(e, i, j)) << e.text() << " became " << bounded.text();
      }
    }
  }
}

TEST(Simplify, KeepsTheValueOfChainsOfDivisions) {
  const auto number = [](int64_t n) { return Expr::integer(DType::i64, n); };
  const Expr lane = simplify(Expr::axis(0) * number(32) + Expr::axis(1));
  Expr rest = lane;
  for (int64_t extent : {4, 2, 4}) {
    for (const Expr& e : {binary(ExprOp::mod, rest, number(extent)), rest / number(extent)})
      for (int64_t i = 0; i < 5; ++i)
        for (int64_t j = 0; j < 32; ++j)
          ASSERT_EQ(at_point(simplify(e), i, j), at_point(e, i, j)) << e.text() << " became " << simplify(e).text();
    rest = rest / number(extent);
  }
}

TEST(Affine, TakesIndexExpressionsApart) {
  Symbols symbols;
  const Dim seq = symbols.symbol("seq", 1);
  const Expr i = Expr::axis(0), j = Expr::axis(1);
  const auto affine = affine_of((i * Expr::dim(seq) + j) * 2 + Expr::dim(seq) / 2 - 1, 2);
  ASSERT_TRUE(affine.has_value());
  EXPECT_EQ(affine->coefficients, (std::vector<Dim>{2 * seq, 2}));
  EXPECT_EQ(affine->offset, floor_div(seq, 2) - 1);
  EXPECT_FALSE(affine_of(i / 2, 2).has_value());
  EXPECT_FALSE(affine_of(i * j, 2).has_value());
  EXPECT_FALSE(affine_of(i + Expr::input(0, DType::i64), 2).has_value());
  EXPECT_FALSE(affine_of(Expr::axis(2), 2).has_value());
  EXPECT_EQ(affine_of(Expr(3), 1)->offset, Dim(3));
}

TEST(Substitute, ReplacesLeavesAndKeepsTheRest) {
  const Expr e = operand(0, DType::f32) * operand(1, DType::f32);
  const Expr out = substitute(e, [](const ExprNode& leaf) { return leaf.index == 0 ? Expr(2) : Expr(); });
  EXPECT_EQ(out.text(), "mul(2, x1)");
  EXPECT_EQ(out.args()[0].dtype(), DType::f32);
  EXPECT_EQ(substitute(e, [](const ExprNode&) { return Expr(); }).get(), e.get());
}

}  // namespace
}  // namespace tenon
