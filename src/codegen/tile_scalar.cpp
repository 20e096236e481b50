// SPDX-License-Identifier: Apache-2.0
#include "codegen/tile_scalar.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace tenon::codegen {
namespace {

Scalar number(double v) { return {.number = v, .integer = 0}; }
Scalar integer(int64_t v) { return {.number = 0, .integer = v}; }
Scalar truth(bool v) { return integer(v); }
uint64_t bits(int64_t v) { return static_cast<uint64_t>(v); }
int64_t signed_of(uint64_t v) { return static_cast<int64_t>(v); }

int64_t wrap(DType dtype, int64_t v) {
  switch (dtype) {
    case DType::i8: return static_cast<int8_t>(v);
    case DType::i16: return static_cast<int16_t>(v);
    case DType::i32: return static_cast<int32_t>(v);
    case DType::u8: return static_cast<uint8_t>(v);
    case DType::u16: return static_cast<uint16_t>(v);
    case DType::u32: return static_cast<uint32_t>(v);
    case DType::boolean: return v != 0;
    default: return v;
  }
}

/// Truncates; what does not fit goes to the nearest value that does; NaN gives 0.
int64_t saturated(DType dtype, double v) {
  if (std::isnan(v)) return 0;
  const int width = bits_of(dtype);
  const double high = std::ldexp(1.0, is_signed(dtype) ? width - 1 : width);
  const double low = is_signed(dtype) ? -high : 0.0;
  v = std::trunc(v);
  if (v <= low) return is_signed(dtype) ? std::numeric_limits<int64_t>::min() >> (64 - width) : 0;
  if (v >= high) return is_signed(dtype) ? std::numeric_limits<int64_t>::max() >> (64 - width) : signed_of(~uint64_t{0} >> (64 - width));
  return v >= 9223372036854775808.0 ? signed_of(static_cast<uint64_t>(v)) : static_cast<int64_t>(v);
}

Scalar cast(DType from, DType to, Scalar v) {
  if (to == DType::boolean) return truth(is_real_arithmetic(from) ? v.number != 0 : v.integer != 0);
  if (!is_real_arithmetic(from)) {
    if (!is_real_arithmetic(to)) return integer(wrap(to, v.integer));
    if (to == DType::f32 && from == DType::u64) return number(static_cast<float>(bits(v.integer)));
    if (to == DType::f32) return number(static_cast<float>(v.integer));
    return rounded(to, number(from == DType::u64 ? static_cast<double>(bits(v.integer)) : static_cast<double>(v.integer)));
  }
  return is_real_arithmetic(to) ? rounded(to, v) : integer(saturated(to, v.number));
}

double float_mod(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

double float_min(double a, double b) { return std::isnan(a) ? a : a < b ? a : b; }
double float_max(double a, double b) { return std::isnan(a) ? a : a > b ? a : b; }

double float_unary(ExprOp op, double x) {
  switch (op) {
    case ExprOp::neg: return -x;
    case ExprOp::abs: return std::fabs(x);
    case ExprOp::sign: return x > 0 ? 1 : x < 0 ? -1 : x;
    case ExprOp::floor: return std::floor(x);
    case ExprOp::ceil: return std::ceil(x);
    case ExprOp::round_even: return std::nearbyint(x);
    case ExprOp::trunc: return std::trunc(x);
    case ExprOp::sqrt: return std::sqrt(x);
    case ExprOp::reciprocal: return 1 / x;
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
    default: return std::erf(x);
  }
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
    case ExprOp::min: return float_min(a, b);
    default: return float_max(a, b);
  }
}

int64_t quotient(DType d, int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (!is_signed(d)) return signed_of(bits(a) / bits(b));
  return b == -1 ? signed_of(-bits(a)) : a / b;
}

int64_t remainder(DType d, int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (!is_signed(d)) return signed_of(bits(a) % bits(b));
  return b == -1 ? 0 : a % b;
}

/// Wraps; a negative exponent gives the integer part of the exact power (0 but for bases 1 and -1).
int64_t integer_power(DType d, int64_t base, int64_t exponent) {
  if (is_signed(d) && exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
  uint64_t result = 1, b = bits(base);
  for (uint64_t e = bits(exponent); e != 0; e >>= 1, b *= b)
    if (e & 1) result *= b;
  return signed_of(result);
}

/// A shift by the width or more leaves nothing (or the sign).
int64_t shift(DType d, ExprOp op, int64_t a, int64_t by) {
  const uint64_t width = bits_of(d);
  const bool over = bits(by) >= width;
  if (op == ExprOp::shift_left) return over ? 0 : signed_of(bits(a) << by);
  if (is_signed(d)) return a >> (over ? 63 : by);
  return over ? 0 : signed_of(bits(a) >> by);
}

bool integer_less(DType d, int64_t a, int64_t b) { return d == DType::u64 ? bits(a) < bits(b) : a < b; }

int64_t integer_binary(ExprOp op, DType d, int64_t a, int64_t b) {
  switch (op) {
    case ExprOp::add: return signed_of(bits(a) + bits(b));
    case ExprOp::sub: return signed_of(bits(a) - bits(b));
    case ExprOp::mul: return signed_of(bits(a) * bits(b));
    case ExprOp::div: return quotient(d, a, b);
    case ExprOp::rem: return remainder(d, a, b);
    case ExprOp::mod: {
      const int64_t r = remainder(d, a, b);
      return is_signed(d) && r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
    case ExprOp::pow: return integer_power(d, a, b);
    case ExprOp::min: return integer_less(d, b, a) ? b : a;
    case ExprOp::max: return integer_less(d, a, b) ? b : a;
    case ExprOp::bit_and:
    case ExprOp::logical_and: return a & b;
    case ExprOp::bit_or:
    case ExprOp::logical_or: return a | b;
    case ExprOp::bit_xor:
    case ExprOp::logical_xor: return a ^ b;
    default: return shift(d, op, a, b);
  }
}

int64_t integer_unary(ExprOp op, DType d, int64_t a) {
  const bool negative = is_signed(d) && a < 0;
  switch (op) {
    case ExprOp::neg: return signed_of(-bits(a));
    case ExprOp::abs: return negative ? signed_of(-bits(a)) : a;
    case ExprOp::sign: return negative ? -1 : a != 0;
    case ExprOp::logical_not: return a == 0;
    case ExprOp::bit_not: return d == DType::boolean ? a == 0 : ~a;
    default: return a;
  }
}

Scalar compare(ExprOp op, DType d, Scalar a, Scalar b) {
  if (is_real_arithmetic(d)) {
    if (op == ExprOp::equal) return truth(a.number == b.number);
    return truth(op == ExprOp::less ? a.number < b.number : a.number <= b.number);
  }
  if (op == ExprOp::equal) return truth(a.integer == b.integer);
  return truth(op == ExprOp::less ? integer_less(d, a.integer, b.integer) : !integer_less(d, b.integer, a.integer));
}

}  // namespace

Scalar rounded(DType dtype, Scalar v) {
  switch (dtype) {
    case DType::f64: return v;
    case DType::f32: return number(static_cast<float>(v.number));
    case DType::f16:
    case DType::bf16: return number(decode_float(dtype, encode_float(dtype, v.number, false)));
    default: return integer(wrap(dtype, v.integer));
  }
}

Scalar apply(ExprOp op, DType operand, DType result, std::span<const Scalar> args) {
  const Scalar a = args[0];
  switch (op) {
    case ExprOp::cast: return cast(operand, result, a);
    case ExprOp::select: return a.integer ? args[1] : args[2];
    case ExprOp::is_nan: return truth(std::isnan(a.number));
    case ExprOp::is_inf: return truth(std::isinf(a.number));
    case ExprOp::equal:
    case ExprOp::less:
    case ExprOp::less_equal: return compare(op, operand, a, args[1]);
    default: break;
  }
  const bool two = operands_of(op) == 2;
  if (is_real_arithmetic(operand))
    return rounded(result, number(two ? float_binary(op, a.number, args[1].number) : float_unary(op, a.number)));
  return rounded(result, integer(two ? integer_binary(op, operand, a.integer, args[1].integer) : integer_unary(op, operand, a.integer)));
}

Scalar fused_multiply_add(DType d, Scalar a, Scalar b, Scalar c) {
  switch (d) {
    case DType::f64: return number(std::fma(a.number, b.number, c.number));
    case DType::f32: return number(std::fma(static_cast<float>(a.number), static_cast<float>(b.number), static_cast<float>(c.number)));
    case DType::f16:
    case DType::bf16:
      return rounded(d, number(std::fma(static_cast<float>(a.number), static_cast<float>(b.number), static_cast<float>(c.number))));
    default: return rounded(d, integer(signed_of(bits(a.integer) * bits(b.integer) + bits(c.integer))));
  }
}

Scalar combine(ops::Combine how, DType dtype, Scalar a, Scalar b) {
  using ops::Combine;
  static constexpr ExprOp table[] = {ExprOp::add, ExprOp::add,         ExprOp::mul,       ExprOp::min,
                                     ExprOp::max, ExprOp::logical_and, ExprOp::logical_or};
  const Scalar args[] = {a, b};
  return apply(table[static_cast<size_t>(how)], dtype, dtype, args);
}

Scalar read_element(DType dtype, const std::byte* from) {
  uint64_t raw = 0;
  std::memcpy(&raw, from, bits_of(dtype) / 8);
  if (is_real_arithmetic(dtype)) return number(decode_float(dtype, raw));
  return integer(wrap(dtype, signed_of(raw)));
}

void write_element(DType dtype, Scalar value, std::byte* to) {
  const uint64_t raw = is_real_arithmetic(dtype) ? encode_float(dtype, value.number, false) : bits(value.integer);
  std::memcpy(to, &raw, bits_of(dtype) / 8);
}

}  // namespace tenon::codegen
