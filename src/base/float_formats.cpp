// SPDX-License-Identifier: Apache-2.0
// Conversions between doubles and the stored floating formats. Layouts: IEEE 754, OCP 8-bit and MX formats, and the FNUZ
// formats of arXiv 2206.02915; NaN and saturation as the reference of ONNX Cast 25 has them.
#include <bit>
#include <cmath>
#include <limits>

#include "base/dtype.h"

namespace tenon::inline base {
namespace {

/// Which codes of a format are no finite numbers, and their meaning.
enum class Special : uint8_t {
  ieee,        ///< top exponent: infinity and NaN
  nan_at_top,  ///< only the all-ones code is NaN, no infinity
  nan_at_minus_zero,
  none,
};

struct Format {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Special special;
};

constexpr Format format_of(DType dtype) {
  switch (dtype) {
    case DType::f16: return {5, 10, 15, Special::ieee};
    case DType::bf16: return {8, 7, 127, Special::ieee};
    case DType::f8e4m3fn: return {4, 3, 7, Special::nan_at_top};
    case DType::f8e4m3fnuz: return {4, 3, 8, Special::nan_at_minus_zero};
    case DType::f8e5m2: return {5, 2, 15, Special::ieee};
    case DType::f8e5m2fnuz: return {5, 2, 16, Special::nan_at_minus_zero};
    default: return {2, 1, 1, Special::none};  // f4e2m1
  }
}

constexpr uint64_t magnitude_mask(const Format& f) { return (uint64_t{1} << (f.exponent_bits + f.mantissa_bits)) - 1; }

constexpr uint64_t largest_finite(const Format& f) {
  switch (f.special) {
    case Special::ieee: return magnitude_mask(f) - (uint64_t{1} << f.mantissa_bits);
    case Special::nan_at_top: return magnitude_mask(f) - 1;
    default: return magnitude_mask(f);
  }
}

/// 2^exponent for the exponents of normal doubles.
double power_of_two(int exponent) { return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52); }

double decode(const Format& f, uint64_t bits) {
  const uint64_t magnitude = bits & magnitude_mask(f);
  const bool negative = (bits >> (f.exponent_bits + f.mantissa_bits)) & 1;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (f.special == Special::nan_at_minus_zero && negative && magnitude == 0) return nan;
  if (magnitude > largest_finite(f)) {
    const bool infinite = f.special == Special::ieee && magnitude == largest_finite(f) + 1;
    const double special = infinite ? std::numeric_limits<double>::infinity() : nan;
    return negative ? -special : special;
  }
  const int field = static_cast<int>(magnitude >> f.mantissa_bits);
  const uint64_t fraction = magnitude & ((uint64_t{1} << f.mantissa_bits) - 1);
  const uint64_t significand = field == 0 ? fraction : fraction | (uint64_t{1} << f.mantissa_bits);
  const double value = static_cast<double>(significand) * power_of_two((field == 0 ? 1 : field) - f.bias - f.mantissa_bits);
  return negative ? -value : value;
}

uint64_t encode_nan(const Format& f, uint64_t sign) {
  switch (f.special) {
    case Special::ieee: return sign | (largest_finite(f) + 1) | (uint64_t{1} << (f.mantissa_bits - 1));
    case Special::nan_at_top: return sign | magnitude_mask(f);
    default: return magnitude_mask(f) + 1;  // minus zero: NaN in FNUZ formats, the nearest thing to none in f4e2m1
  }
}

uint64_t encode_overflow(const Format& f, uint64_t sign, bool saturate) {
  const bool small = f.exponent_bits + f.mantissa_bits < 8;
  if (f.special == Special::none || (small && saturate)) return sign | largest_finite(f);
  if (f.special == Special::ieee) return sign | (largest_finite(f) + 1);
  return encode_nan(f, sign);
}

uint64_t encode(const Format& f, double value, bool saturate) {
  const uint64_t raw = std::bit_cast<uint64_t>(value);
  const uint64_t sign = (raw >> 63) << (f.exponent_bits + f.mantissa_bits);
  const double magnitude = std::bit_cast<double>(raw & ~(uint64_t{1} << 63));
  if (std::isnan(value)) return encode_nan(f, f.special == Special::none ? 0 : sign);
  if (std::isinf(value)) return encode_overflow(f, sign, saturate);
  const int smallest = 1 - f.bias;
  int exponent = static_cast<int>((raw >> 52) & 0x7ff) - 1023;
  if (exponent < smallest) exponent = smallest;
  if (exponent > f.bias + 2) return encode_overflow(f, sign, saturate);
  // In units of the last place, all formats round in the same way, and a carry runs into the exponent field by itself.
  const double units = magnitude * power_of_two(f.mantissa_bits - exponent);
  constexpr double kRoundToInteger = 4503599627370496.0;  // 2^52: adding it rounds to nearest even
  const auto rounded = static_cast<uint64_t>((units + kRoundToInteger) - kRoundToInteger);
  const uint64_t code = (static_cast<uint64_t>(exponent - smallest) << f.mantissa_bits) + rounded;
  if (code > largest_finite(f)) return encode_overflow(f, sign, saturate);
  if (code == 0 && f.special == Special::nan_at_minus_zero) return 0;
  return sign | code;
}

/// A bare exponent, 2^(code - 127); sign and fraction are lost, a fraction of one half or more rounds up.
uint64_t encode_exponent(double value, bool saturate) {
  if (std::isnan(value) || std::isinf(value)) return 0xff;
  const uint64_t raw = std::bit_cast<uint64_t>(value) & ~(uint64_t{1} << 63);
  const int exponent = static_cast<int>(raw >> 52) - 1023 + static_cast<int>((raw >> 51) & 1);
  if (exponent < -127) return 0;
  if (exponent > 127) return saturate ? 0xfe : 0xff;
  return static_cast<uint64_t>(exponent + 127);
}

}  // namespace

double decode_float(DType dtype, uint64_t bits) {
  switch (dtype) {
    case DType::f32: return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    case DType::f64: return std::bit_cast<double>(bits);
    case DType::bf16: return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits & 0xffff) << 16));
    case DType::f8e8m0:
      return (bits & 0xff) == 0xff ? std::numeric_limits<double>::quiet_NaN() : power_of_two(static_cast<int>(bits & 0xff) - 127);
    default: return decode(format_of(dtype), bits);
  }
}

uint64_t encode_float(DType dtype, double value, bool saturate) {
  switch (dtype) {
    case DType::f32: return std::bit_cast<uint32_t>(static_cast<float>(value));
    case DType::f64: return std::bit_cast<uint64_t>(value);
    case DType::f8e8m0: return encode_exponent(value, saturate);
    default: return encode(format_of(dtype), value, saturate);
  }
}

}  // namespace tenon::inline base
