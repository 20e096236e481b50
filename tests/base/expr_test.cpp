// SPDX-License-Identifier: Apache-2.0
#include "base/expr/expr.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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
  EXPECT_EQ((in(0, DType::i32) + 1).args()[1]->int_value, 1);
  EXPECT_EQ((in(0, DType::f32) < 1).dtype(), DType::boolean);
  EXPECT_EQ(cast(Expr(3), DType::u8).dtype(), DType::u8);
  EXPECT_EQ(select(in(0, DType::boolean), 0.0, in(1, DType::f16)).dtype(), DType::f16);
}

TEST(Expr, ZeroIsAskedInTheConstantsOwnDType) {
  for (const Expr& zero : {Expr::constant(DType::f16, 0), Expr::constant(DType::f32, -0.0), Expr::integer(DType::i32, 0)})
    EXPECT_TRUE(is_zero(zero)) << zero.text();
  for (const Expr& other :
       {Expr::constant(DType::f32, 0.5), Expr::integer(DType::i32, 7), Expr::integer(DType::boolean, 1), in(0, DType::f32)})
    EXPECT_FALSE(is_zero(other)) << other.text();
  EXPECT_FALSE(is_zero(Expr()));
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

TEST(Expr, RoundsEachStepOnRequest) {
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

}  // namespace
}  // namespace tenon
