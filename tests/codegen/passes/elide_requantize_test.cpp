// SPDX-License-Identifier: Apache-2.0
// Numbers that are rounded to a byte and read again, with and without the byte.
#include "codegen/passes/elide_requantize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tenon::codegen {
namespace {

double value_of(const Expr& e, double x) {
  ScalarEnvironment env;
  env.input_number = [x](int) { return x; };
  return evaluate(e, env, true).number;
}

bool has_byte(const Expr& e) { return e.dtype() == DType::u8 || std::ranges::any_of(e.args(), has_byte); }

TEST(ElideRequantize, GivesTheSameResults) {
  const Expr x = Expr::input(0, DType::f32), rounded = unary(ExprOp::round_even, x);
  const float infinity = std::numeric_limits<float>::infinity();
  for (const double zero : {0.0, 131.0, 255.0}) {
    const Expr byte = cast(rounded + Expr::constant(DType::f32, zero), DType::u8), number = cast(byte, DType::f32);
    const Expr moved = (number - Expr::constant(DType::f32, zero)) * Expr::constant(DType::f32, 1.5);
    for (const Expr& before : {number, moved}) {
      const Expr after = without_requantize(before);
      EXPECT_FALSE(has_byte(after)) << after.text();
      for (const double v : {0.0, -0.0, 0.5, 1.5, -1.5, 123.5, 124.4, 254.6, -131.0, 255.5, 1e9, -1e9, 3e38, double{infinity},
                             -double{infinity}, std::nan("")})
        EXPECT_EQ(value_of(before, v), value_of(after, v)) << v << ": " << after.text();
    }
  }
}

TEST(ElideRequantize, KeepsBytesOfNumbersWithAFraction) {
  const Expr byte = cast(cast(Expr::input(0, DType::f32) * Expr::constant(DType::f32, 0.5), DType::u8), DType::f32);
  EXPECT_TRUE(has_byte(without_requantize(byte)));
}

}  // namespace
}  // namespace tenon::codegen
