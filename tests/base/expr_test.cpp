// SPDX-License-Identifier: Apache-2.0
#include "base/expr.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace tenon {
namespace {

double number_of(const Expr& e, double x = 0, bool round = true) {
  ScalarEnvironment env;
  env.input_number = [x](int) { return x; };
  return evaluate(e, env, round).number;
}

int64_t integer_of(const Expr& e, int64_t x0 = 0, int64_t x1 = 0) {
  ScalarEnvironment env;
  env.input_integer = [=](int i) { return i == 0 ? x0 : x1; };
  env.axis = env.input_integer;
  return evaluate(e, env, true).integer;
}

Expr in(int index, DType dtype) { return Expr::input(index, dtype); }

TEST(Expr, BareNumbersTakeTheirPartnersDType) {
  const Expr h = in(0, DType::f16) * 0.5;
  EXPECT_EQ(h.args()[1].dtype(), DType::f16);
  const Expr later = Expr(2) * Expr(3.5) + in(0, DType::f64);
  EXPECT_EQ(later.dtype(), DType::f64);
  EXPECT_EQ(later.args()[0].args()[0].dtype(), DType::f64);
  EXPECT_EQ(number_of(later, 1), 8);
  EXPECT_EQ((in(0, DType::i32) + 1).args()[1]->integer, 1);
  EXPECT_EQ((in(0, DType::f32) < 1).dtype(), DType::boolean);
  EXPECT_EQ(cast(Expr(3), DType::u8).dtype(), DType::u8);
  EXPECT_EQ(select(in(0, DType::boolean), 0.0, in(1, DType::f16)).dtype(), DType::f16);
}

TEST(Expr, PrintsAsCalls) {
  EXPECT_EQ((in(0, DType::f32) + in(1, DType::f32) * 2).text(), "add(x0, mul(x1, 2))");
  EXPECT_EQ(cast(in(0, DType::f32), DType::f16).text(), "cast(x0, f16)");
  Symbols symbols;
  EXPECT_EQ((Expr::axis(1) * Expr::dim(symbols.symbol("seq"))).text(), "mul(i1, [seq])");
}

TEST(Expr, IntegersWrapInTheirWidth) {
  const auto sum = [](DType d) { return in(0, d) + in(1, d); };
  EXPECT_EQ(integer_of(sum(DType::i32), INT32_MAX, 1), INT32_MIN);
  EXPECT_EQ(integer_of(sum(DType::u8), 250, 10), 4);
  EXPECT_EQ(integer_of(sum(DType::i4), 7, 1), -8);
  EXPECT_EQ(integer_of(in(0, DType::i64) * in(1, DType::i64), INT64_MAX, 2), -2);
  EXPECT_EQ(integer_of(-in(0, DType::u32), 1), 0xffffffffll);
  EXPECT_EQ(integer_of(abs(in(0, DType::i8)), -128), -128);
}

TEST(Expr, DivisionNeverTraps) {
  for (DType d : {DType::i32, DType::i64, DType::u64, DType::u8}) {
    for (ExprOp op : {ExprOp::div, ExprOp::mod, ExprOp::rem}) EXPECT_EQ(integer_of(binary(op, in(0, d), in(1, d)), 5, 0), 0);
  }
  EXPECT_EQ(integer_of(in(0, DType::i64) / in(1, DType::i64), INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(integer_of(binary(ExprOp::rem, in(0, DType::i64), in(1, DType::i64)), INT64_MIN, -1), 0);
  EXPECT_EQ(integer_of(in(0, DType::i32) / in(1, DType::i32), -7, 2), -3);
  EXPECT_EQ(integer_of(binary(ExprOp::mod, in(0, DType::i32), in(1, DType::i32)), -7, 3), 2);
  EXPECT_EQ(integer_of(binary(ExprOp::mod, in(0, DType::i32), in(1, DType::i32)), 7, -3), -2);
  EXPECT_EQ(integer_of(binary(ExprOp::rem, in(0, DType::i32), in(1, DType::i32)), -7, 3), -1);
  EXPECT_EQ(integer_of(in(0, DType::u64) / in(1, DType::u64), -1, 2), INT64_MAX);
}

TEST(Expr, UnsignedValuesCompareAndConvertAsSuch) {
  EXPECT_EQ(integer_of(in(0, DType::u64) < in(1, DType::u64), 1, -1), 1);
  EXPECT_EQ(integer_of(in(0, DType::i64) < in(1, DType::i64), 1, -1), 0);
  EXPECT_EQ(integer_of(max(in(0, DType::u64), in(1, DType::u64)), 1, -1), -1);
  ScalarEnvironment env;
  env.input_integer = [](int) { return int64_t{-1}; };
  EXPECT_EQ(evaluate(cast(in(0, DType::u64), DType::f64), env, true).number, 0x1p64);
  EXPECT_EQ(integer_of(binary(ExprOp::shift_right, in(0, DType::u64), in(1, DType::u64)), -1, 63), 1);
  EXPECT_EQ(integer_of(binary(ExprOp::shift_left, in(0, DType::u8), in(1, DType::u8)), 1, 8), 0);
}

TEST(Expr, CastsSaturateFromFloatsAndWrapFromIntegers) {
  const auto to = [](DType d, double x) {
    ScalarEnvironment env;
    env.input_number = [x](int) { return x; };
    return evaluate(cast(in(0, DType::f64), d), env, true).integer;
  };
  EXPECT_EQ(to(DType::i8, -1.9), -1);
  EXPECT_EQ(to(DType::i8, 300), 127);
  EXPECT_EQ(to(DType::u8, -3), 0);
  EXPECT_EQ(to(DType::i64, 1e30), INT64_MAX);
  EXPECT_EQ(to(DType::i64, -1e30), INT64_MIN);
  EXPECT_EQ(to(DType::u64, 1e30), -1);
  EXPECT_EQ(to(DType::u32, 1e30), 0xffffffffll);
  EXPECT_EQ(to(DType::i32, std::numeric_limits<double>::quiet_NaN()), 0);
  EXPECT_EQ(to(DType::boolean, 0.25), 1);
  EXPECT_EQ(integer_of(cast(in(0, DType::i64), DType::u8), 257), 1);
}

TEST(Expr, IntegerToFloatRoundsOnce) {
  const int64_t tie_and_more = (int64_t{1} << 60) + (int64_t{1} << 36) + 1;  // through fp64 this would become a tie, and round down
  ScalarEnvironment env;
  env.input_integer = [=](int) { return tie_and_more; };
  EXPECT_EQ(evaluate(cast(in(0, DType::i64), DType::f32), env, true).number, static_cast<double>(static_cast<float>(tie_and_more)));
}

TEST(Expr, RoundsEachStepWhereAsked) {
  const Expr e = in(0, DType::f16) + 1;
  EXPECT_EQ(number_of(e, 2048), 2048);
  EXPECT_EQ(number_of(e, 2048, false), 2049);
  EXPECT_EQ(number_of(in(0, DType::f32) / 3, 1), static_cast<double>(1.0f / 3.0f));
}

TEST(Expr, ExtremesOfFloatsPassNanOn) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(number_of(max(in(0, DType::f32), 1), nan)));
  EXPECT_TRUE(std::isnan(number_of(min(Expr::constant(DType::f32, 1), in(0, DType::f32)), nan)));
  EXPECT_EQ(number_of(unary(ExprOp::round_even, in(0, DType::f32)), 2.5), 2);
}

TEST(Expr, SharedOperandsAreEvaluatedOnce) {
  Expr e = in(0, DType::f64);
  for (int i = 0; i < 200; ++i) e = (e + e) * 0.5;
  EXPECT_EQ(number_of(e, 3), 3);
  Expr other = in(0, DType::f64);
  for (int i = 0; i < 200; ++i) other = (other + other) * 0.5;
  EXPECT_TRUE(same(e, other));
  EXPECT_EQ(hash_of(e), hash_of(other));
  EXPECT_FALSE(same(e, other + 1));
}

TEST(Simplify, FoldsConstantsInTheirDType) {
  const auto c = [](double v) { return Expr::constant(DType::f16, v); };
  EXPECT_EQ(simplify(c(2048) + c(1))->number, 2048);
  EXPECT_EQ(simplify(Expr::integer(DType::i8, 127) + Expr::integer(DType::i8, 1))->integer, -128);
  EXPECT_EQ(simplify(in(0, DType::f32) * 1).text(), "x0");
  EXPECT_EQ(simplify(in(0, DType::f32) + 0).text(), "add(x0, 0)");  // -0 + 0 is +0
  EXPECT_EQ(simplify(in(0, DType::f32) * 0).text(), "mul(x0, 0)");
  EXPECT_EQ(simplify(in(0, DType::i32) * 0).text(), "0");
  EXPECT_EQ(simplify(select(logical_and(in(0, DType::boolean), Expr::integer(DType::boolean, 0)), in(1, DType::f32), 2.0)).text(), "2");
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
        ASSERT_EQ(integer_of(plain, i, j), integer_of(e, i, j)) << e.text() << " became " << plain.text();
        ASSERT_EQ(integer_of(bounded, i, j), integer_of(e, i, j)) << e.text() << " became " << bounded.text();
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
          ASSERT_EQ(integer_of(simplify(e), i, j), integer_of(e, i, j)) << e.text() << " became " << simplify(e).text();
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
  const Expr e = in(0, DType::f32) * in(1, DType::f32);
  const Expr out = substitute(e, [](const ExprNode& leaf) { return leaf.index == 0 ? Expr(2) : Expr(); });
  EXPECT_EQ(out.text(), "mul(2, x1)");
  EXPECT_EQ(out.args()[0].dtype(), DType::f32);
  EXPECT_EQ(substitute(e, [](const ExprNode&) { return Expr(); }).get(), e.get());
}

}  // namespace
}  // namespace tenon
