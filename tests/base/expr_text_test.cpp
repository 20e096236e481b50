// SPDX-License-Identifier: Apache-2.0
#include "base/expr/text.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

namespace tenon {
namespace {

constexpr std::array kInputs = {DType::f32, DType::i64, DType::boolean, DType::f16, DType::u8, DType::u64, DType::f64, DType::i32};

Result<Expr> parsed(std::string_view text, Symbols& symbols, const ExprTypes& types = {DType::f32, kInputs}) {
  size_t at = 0;
  return parse_expr(text, at, symbols, types);
}

/// The error's text, and where it was found.
std::string fault(std::string_view text, const ExprTypes& types = {DType::f32, kInputs}) {
  Symbols symbols;
  size_t at = 0;
  const auto e = parse_expr(text, at, symbols, types);
  return e ? "none: " + e->text() : std::to_string(at) + " " + e.error().text();
}

/// Draws random expressions of the dtypes of kInputs, with all operators.
class RandomExpr {
 public:
  RandomExpr(uint64_t seed, Symbols& symbols) : random_(seed), n_(symbols.symbol("n")), m_(symbols.symbol("m")) {}

  Expr make(DType dtype, int depth) {
    if (depth == 0 || pick(6) == 0) return leaf(dtype);
    if (pick(8) == 0) return cast(make(kInputs[pick(kInputs.size())], depth - 1), dtype);
    if (pick(8) == 0) return select(make(DType::boolean, depth - 1), make(dtype, depth - 1), make(dtype, depth - 1));
    if (dtype == DType::boolean) return logical(depth);
    if (pick(2) == 0) return unary(some(ExprOp::neg, ExprOp::erf), make(dtype, depth - 1));
    return binary(some(ExprOp::add, is_float(dtype) ? ExprOp::max : ExprOp::shift_right), make(dtype, depth - 1), make(dtype, depth - 1));
  }
  DType some_dtype() { return kInputs[pick(kInputs.size())]; }

 private:
  size_t pick(size_t n) { return random_() % n; }
  ExprOp some(ExprOp first, ExprOp last) {
    return static_cast<ExprOp>(static_cast<size_t>(first) + pick(static_cast<size_t>(last) - static_cast<size_t>(first) + 1));
  }

  Expr logical(int depth) {
    const DType of = kInputs[pick(kInputs.size())];
    if (pick(3) == 0) return logical_not(make(DType::boolean, depth - 1));
    if (pick(3) == 0)
      return binary(some(ExprOp::logical_and, ExprOp::logical_xor), make(DType::boolean, depth - 1), make(DType::boolean, depth - 1));
    if (pick(4) == 0) return unary(pick(2) == 0 ? ExprOp::is_nan : ExprOp::is_inf, make(of, depth - 1));
    return binary(some(ExprOp::equal, ExprOp::less_equal), make(of, depth - 1), make(of, depth - 1));
  }

  Expr leaf(DType dtype) {
    if (dtype == DType::i64 && pick(3) == 0)
      return pick(2) == 0 ? Expr::axis(static_cast<int>(pick(4))) : Expr::dim(n_ * 2 + m_ + Dim(static_cast<int64_t>(pick(3))));
    if (pick(2) == 0) return constant(dtype);
    // Inputs 8 to 15 are not among the types that the reader has.
    const size_t k = static_cast<size_t>(std::ranges::find(kInputs, dtype) - kInputs.begin());
    return Expr::input(static_cast<int>(k + (pick(4) == 0 ? 8 : 0)), dtype);
  }

  Expr constant(DType dtype) {
    if (!is_float(dtype)) return Expr::integer(dtype, static_cast<int64_t>(random_()));
    constexpr double kSpecial[] = {0.0, -0.0, 1, 0.1, -3.5e-30, 1e300, HUGE_VAL, -HUGE_VAL, NAN};
    return Expr::constant(dtype, kSpecial[pick(std::size(kSpecial))]);
  }

  std::mt19937_64 random_;
  Dim n_, m_;
};

TEST(ExprText, RandomExpressionsPrintParseAndPrintTheSame) {
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    Symbols symbols;
    RandomExpr random(seed, symbols);
    const DType dtype = random.some_dtype();
    const Expr e = random.make(dtype, 5);
    const ExprTypes types{seed % 2 == 0 ? dtype : DType::none, kInputs};
    const std::string text = text_of(e, types);
    const auto again = parsed(text, symbols, types);
    ASSERT_TRUE(again) << seed << ": " << text << "\n" << again.error().text();
    ASSERT_EQ(text_of(*again, types), text) << seed;
    ASSERT_TRUE(same(e, *again)) << seed << ": " << text;
  }
}

TEST(ExprText, NumbersHaveDTypesWhereNothingElseDeterminesThem) {
  const Expr one = Expr::constant(DType::f32, 1), x = Expr::input(0, DType::f32);
  EXPECT_EQ(text_of(one + x, {DType::none, kInputs}), "add(1, x0)");
  EXPECT_EQ(text_of(binary(ExprOp::add, one, one), {}), "add(1:f32, 1:f32)");
  EXPECT_EQ(text_of(binary(ExprOp::add, one, one), {.result = DType::f32}), "add(1, 1)");
  EXPECT_EQ(text_of(one < x, {}), "less(1, x0:f32)");
  EXPECT_EQ(text_of(Expr::make(ExprOp::cast, DType::i64, {one}), {.result = DType::i64}), "cast(1:f32, i64)");
  EXPECT_EQ(text_of(Expr::input(1, DType::f32), {DType::f32, kInputs}), "x1:f32");
}

TEST(ExprText, FaultsHaveTheirPlaceAndWhatIsExpected) {
  EXPECT_NE(fault("add(x0, ").find("8 error[TN110]: an expression is missing"), std::string::npos) << fault("add(x0, ");
  EXPECT_NE(fault("add(x0 x0)").find("7 error[TN110]: an operand of add is missing\n  expected: `,`\n  found:    `x0)`"), std::string::npos)
      << fault("add(x0 x0)");
  EXPECT_NE(fault("plus(x0, 1)").find("0 error[TN110]: no operator, load, axis, size or number"), std::string::npos)
      << fault("plus(x0, 1)");
  EXPECT_NE(fault("add(x0, x1)").find("8 error[TN110]: an expression of another dtype\n  expected: f32\n  found:    i64"),
            std::string::npos)
      << fault("add(x0, x1)");
  EXPECT_NE(fault("cast(1, f32)").find("5 error[TN110]: a number whose dtype nothing determines"), std::string::npos)
      << fault("cast(1, f32)");
  EXPECT_NE(fault("cast(300:u8, f32)").find("a number that is no u8"), std::string::npos) << fault("cast(300:u8, f32)");
  EXPECT_NE(fault("cast(1.5:i32, f32)").find("a number that is no i32"), std::string::npos) << fault("cast(1.5:i32, f32)");
  EXPECT_NE(fault("select(1, x0, x0)").find("a number where a bool must be"), std::string::npos) << fault("select(1, x0, x0)");
  EXPECT_NE(fault("x8").find("a load that does not come before"), std::string::npos) << fault("x8");
  EXPECT_NE(fault("x99999999999").find("too large"), std::string::npos) << fault("x99999999999");
  EXPECT_NE(fault("cast([n +], f32)").find("a size is not well formed"), std::string::npos) << fault("cast([n +], f32)");
  EXPECT_NE(fault("bit_and(x0, x0)").find("bits of a float"), std::string::npos) << fault("bit_and(x0, x0)");
  EXPECT_NE(fault("cast(x0, string)").find("no dtype of a scalar"), std::string::npos) << fault("cast(x0, string)");
  EXPECT_NE(fault("cast([n", {}).find("a size is not well formed"), std::string::npos) << fault("cast([n", {});
  std::string deep;
  for (int k = 0; k < 100000; ++k) deep += "neg(";
  EXPECT_NE(fault(deep).find("nests too deep"), std::string::npos);
}

}  // namespace
}  // namespace tenon
