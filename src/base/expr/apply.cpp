// SPDX-License-Identifier: Apache-2.0
// The meaning of each operator on one pair of scalars.
#include <cmath>

#include "base/expr/evaluate.h"
#include "base/result.h"
#include "base/scalar.h"

namespace tenon::inline base {
namespace {

Scalar of_integer(int64_t value) { return {0, value}; }
Scalar of_number(double value) { return {value, 0}; }

double float_unary(ExprOp op, double x) {
  switch (op) {
    case ExprOp::neg: return -x;
    case ExprOp::abs: return std::fabs(x);
    case ExprOp::sign: return std::isnan(x) ? x : x > 0 ? 1.0 : x < 0 ? -1.0 : x;
    case ExprOp::floor: return std::floor(x);
    case ExprOp::ceil: return std::ceil(x);
    case ExprOp::round_even: return std::nearbyint(x);
    case ExprOp::trunc: return std::trunc(x);
    case ExprOp::sqrt: return std::sqrt(x);
    case ExprOp::reciprocal: return 1.0 / x;
    case ExprOp::exp: return std::exp(x);
    case ExprOp::log: return std::log(x);
    case ExprOp::log1p: return std::log1p(x);
    case ExprOp::expm1: return std::expm1(x);
    case ExprOp::sin: return std::sin(x);
    case ExprOp::cos: return std::cos(x);
    case ExprOp::tan: return std::tan(x);
    case ExprOp::asin: return std::asin(x);
    case ExprOp::acos: return std::acos(x);
    case ExprOp::atan: return std::atan(x);
    case ExprOp::sinh: return std::sinh(x);
    case ExprOp::cosh: return std::cosh(x);
    case ExprOp::tanh: return std::tanh(x);
    case ExprOp::asinh: return std::asinh(x);
    case ExprOp::acosh: return std::acosh(x);
    case ExprOp::atanh: return std::atanh(x);
    case ExprOp::erf: return std::erf(x);
    default: break;
  }
  TENON_ASSERT(!"a unary operator on floats");
  return 0;
}

double float_mod(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

double float_binary(ExprOp op, double a, double b) {
  switch (op) {
    case ExprOp::add: return a + b;
    case ExprOp::sub: return a - b;
    case ExprOp::mul: return a * b;
    case ExprOp::div: return a / b;
    case ExprOp::mod: return float_mod(a, b);
    case ExprOp::rem: return std::fmod(a, b);
    case ExprOp::pow: return std::pow(a, b);
    case ExprOp::min: return minimum(a, b);
    case ExprOp::max: return maximum(a, b);
    default: break;
  }
  TENON_ASSERT(!"a binary operator on floats");
  return 0;
}

int64_t negated(int64_t a) { return static_cast<int64_t>(0 - static_cast<uint64_t>(a)); }

int64_t integer_unary(ExprOp op, DType dtype, int64_t a) {
  switch (op) {
    case ExprOp::neg: return negated(a);
    case ExprOp::abs: return is_signed(dtype) && a < 0 ? negated(a) : a;
    case ExprOp::sign: return a == 0 ? 0 : is_signed(dtype) && a < 0 ? -1 : 1;
    case ExprOp::floor:
    case ExprOp::ceil:
    case ExprOp::round_even:
    case ExprOp::trunc: return a;
    case ExprOp::bit_not: return dtype == DType::boolean ? a == 0 : ~a;
    case ExprOp::reciprocal: return a == 1 || (is_signed(dtype) && a == -1) ? a : 0;
    default: return saturate_number(dtype, float_unary(op, number_of_integer(dtype, a)));
  }
}

/// Truncating quotient and rest; both 0 for a division by 0. Narrow unsigned values are stored zero-extended; u64 needs care.
struct Division {
  int64_t quotient, rest;
};
Division divide(DType dtype, int64_t a, int64_t b) {
  if (b == 0) return {0, 0};
  if (dtype == DType::u64) {
    const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    return {static_cast<int64_t>(x / y), static_cast<int64_t>(x % y)};
  }
  return b == -1 ? Division{negated(a), 0} : Division{a / b, a % b};
}

int64_t integer_mod(DType dtype, int64_t a, int64_t b) {
  const int64_t rest = divide(dtype, a, b).rest;
  return is_signed(dtype) && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

int64_t integer_pow(DType dtype, int64_t base, int64_t exponent) {
  if (is_signed(dtype) && exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (auto left = static_cast<uint64_t>(exponent); left != 0; left >>= 1, square *= square) {
    if (left & 1) result *= square;
  }
  return static_cast<int64_t>(result);
}

bool integer_less(DType dtype, int64_t a, int64_t b) {
  return dtype == DType::u64 ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
}

/// Shifts by the width or more (or by a negative number) push every bit out.
int64_t shifted(ExprOp op, DType dtype, int64_t a, int64_t by) {
  const bool all_out = by < 0 || by >= bits_of(dtype);
  if (op == ExprOp::shift_left) return all_out ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << by);
  if (is_signed(dtype)) return a >> (all_out ? 63 : by);
  return all_out ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) >> by);
}

int64_t integer_binary(ExprOp op, DType dtype, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  switch (op) {
    case ExprOp::add: return static_cast<int64_t>(x + y);
    case ExprOp::sub: return static_cast<int64_t>(x - y);
    case ExprOp::mul: return static_cast<int64_t>(x * y);
    case ExprOp::div: return divide(dtype, a, b).quotient;
    case ExprOp::rem: return divide(dtype, a, b).rest;
    case ExprOp::mod: return integer_mod(dtype, a, b);
    case ExprOp::pow: return integer_pow(dtype, a, b);
    case ExprOp::min: return integer_less(dtype, a, b) ? a : b;
    case ExprOp::max: return integer_less(dtype, a, b) ? b : a;
    case ExprOp::bit_and: return a & b;
    case ExprOp::bit_or: return a | b;
    case ExprOp::bit_xor: return a ^ b;
    case ExprOp::shift_left:
    case ExprOp::shift_right: return shifted(op, dtype, a, b);
    default: break;
  }
  TENON_ASSERT(!"a binary operator on integers");
  return 0;
}

Scalar cast_scalar(DType from, DType to, Scalar a, bool round) {
  if (!is_float(to)) return of_integer(is_float(from) ? saturate_number(to, a.number) : wrap_integer(to, a.integer));
  const bool rounds = round || !is_arithmetic_float(to);
  if (is_float(from)) return of_number(rounds ? round_to(to, a.number) : a.number);
  return of_number(rounds ? round_integer_to(to, from, a.integer) : number_of_integer(from, a.integer));
}

bool compare(ExprOp op, DType dtype, Scalar a, Scalar b) {
  if (is_float(dtype)) {
    return op == ExprOp::equal ? a.number == b.number : op == ExprOp::less ? a.number < b.number : a.number <= b.number;
  }
  if (op == ExprOp::equal) return a.integer == b.integer;
  return op == ExprOp::less ? integer_less(dtype, a.integer, b.integer) : !integer_less(dtype, b.integer, a.integer);
}

Scalar arithmetic(ExprOp op, DType dtype, bool two, Scalar a, Scalar b, bool round) {
  if (!is_float(dtype)) {
    return of_integer(wrap_integer(dtype, two ? integer_binary(op, dtype, a.integer, b.integer) : integer_unary(op, dtype, a.integer)));
  }
  const double exact = two ? float_binary(op, a.number, b.number) : float_unary(op, a.number);
  return of_number(round ? round_to(dtype, exact) : exact);
}

}  // namespace

Scalar apply(ExprOp op, DType from, DType to, Scalar a, Scalar b, Scalar c, bool round) {
  switch (op) {
    case ExprOp::cast: return cast_scalar(from, to, a, round);
    case ExprOp::is_nan: return of_integer(is_float(from) && std::isnan(a.number));
    case ExprOp::is_inf: return of_integer(is_float(from) && std::isinf(a.number));
    case ExprOp::logical_not: return of_integer(a.integer == 0);
    case ExprOp::logical_and: return of_integer(a.integer != 0 && b.integer != 0);
    case ExprOp::logical_or: return of_integer(a.integer != 0 || b.integer != 0);
    case ExprOp::logical_xor: return of_integer((a.integer != 0) != (b.integer != 0));
    case ExprOp::equal:
    case ExprOp::less:
    case ExprOp::less_equal: return of_integer(compare(op, from, a, b));
    case ExprOp::select: return a.integer != 0 ? b : c;
    default: return arithmetic(op, to, op > ExprOp::cast, a, b, round);
  }
}

}  // namespace tenon::inline base
