// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <span>

#include "base/expr/expr.h"

namespace tenon::ops {

/// x to the power of p >= 1, and the root that undoes it; 1 and 2 without a power.
inline Expr power_of(Expr x, int64_t p) {
  return p == 1 ? x : p == 2 ? x * x : binary(ExprOp::pow, x, Expr::constant(x.dtype(), static_cast<double>(p)));
}
inline Expr root_of(Expr x, int64_t p) {
  return p == 1 ? x : p == 2 ? sqrt(x) : binary(ExprOp::pow, x, Expr::constant(x.dtype(), 1.0 / static_cast<double>(p)));
}
/// The same of numbers: the p-th root of the sum of the p-th powers of all magnitudes.
inline double norm_of(std::span<const double> x, double p) {
  double sum = 0;
  for (double v : x) sum += std::pow(std::abs(v), p);
  return std::pow(sum, 1 / p);
}

}  // namespace tenon::ops
