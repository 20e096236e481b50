// SPDX-License-Identifier: Apache-2.0
#include "base/scalar.h"

#include <bit>
#include <cmath>
#include <limits>

namespace tenon::inline base {

int64_t wrap_integer(DType dtype, int64_t value) {
  if (dtype == DType::boolean) return value != 0;
  const int bits = bits_of(dtype);
  if (bits == 0 || bits >= 64) return value;
  const int drop = 64 - bits;
  const uint64_t high = static_cast<uint64_t>(value) << drop;
  return is_signed(dtype) ? static_cast<int64_t>(high) >> drop : static_cast<int64_t>(high >> drop);
}

int64_t wrap_number(DType dtype, double value) {
  if (dtype == DType::boolean) return value != 0;
  if (!std::isfinite(value)) return 0;
  const double whole = std::trunc(value);
  if (std::fabs(whole) < 0x1p63) return wrap_integer(dtype, static_cast<int64_t>(whole));
  const double rest = std::fmod(whole, 0x1p64);
  const auto magnitude = static_cast<uint64_t>(std::fabs(rest));
  return wrap_integer(dtype, static_cast<int64_t>(rest < 0 ? 0 - magnitude : magnitude));
}

int64_t saturate_number(DType dtype, double value) {
  if (dtype == DType::boolean) return value != 0;
  if (std::isnan(value)) return 0;
  const int bits = bits_of(dtype);
  const bool with_sign = is_signed(dtype);
  const double limit = std::ldexp(1.0, with_sign ? bits - 1 : bits);  // first value above the range
  if (value >= limit) return with_sign ? static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1) : wrap_integer(dtype, -1);
  if (with_sign)
    return value <= -limit ? wrap_integer(dtype, static_cast<int64_t>(uint64_t{1} << (bits - 1))) : static_cast<int64_t>(value);
  if (value <= 0) return 0;
  return static_cast<int64_t>(static_cast<uint64_t>(value));
}

double number_of_integer(DType dtype, int64_t value) {
  return dtype == DType::u64 ? static_cast<double>(static_cast<uint64_t>(value)) : static_cast<double>(value);
}

double minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

double maximum(double a, double b) { return -minimum(-a, -b); }

double round_to(DType dtype, double value) {
  switch (dtype) {
    case DType::f64: return value;
    case DType::f32: return static_cast<double>(static_cast<float>(value));
    default: return decode_float(dtype, encode_float(dtype, value));
  }
}

double round_integer_to(DType dtype, DType source, int64_t value) {
  const double nearest = number_of_integer(source, value);
  if (dtype == DType::f64 || std::fabs(nearest) < 0x1p53) return round_to(dtype, nearest);
  // Rounding twice could go wrong at a tie: the first rounding is done to odd instead.
  const bool negative = source != DType::u64 && value < 0;
  const uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  const int drop = 64 - std::countl_zero(magnitude) - 53;
  const uint64_t kept = (magnitude >> drop) << drop;
  const uint64_t odd = kept == magnitude ? kept : kept | (uint64_t{1} << drop);
  const double magnitude_odd = static_cast<double>(odd);
  return round_to(dtype, negative ? -magnitude_odd : magnitude_odd);
}

}  // namespace tenon::inline base
