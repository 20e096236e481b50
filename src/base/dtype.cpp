// SPDX-License-Identifier: Apache-2.0
#include "base/dtype.h"

#include <array>

namespace tenon::inline base {
namespace {

enum class Family : uint8_t { other, floating, signed_integer, unsigned_integer, boolean, complex };

struct Row {
  std::string_view name;
  uint8_t bits;
  Family family;
};

constexpr std::array<Row, kDTypeCount> kRows = {{
    {"none", 0, Family::other},
    {"f32", 32, Family::floating},
    {"u8", 8, Family::unsigned_integer},
    {"i8", 8, Family::signed_integer},
    {"u16", 16, Family::unsigned_integer},
    {"i16", 16, Family::signed_integer},
    {"i32", 32, Family::signed_integer},
    {"i64", 64, Family::signed_integer},
    {"string", 0, Family::other},
    {"bool", 8, Family::boolean},
    {"f16", 16, Family::floating},
    {"f64", 64, Family::floating},
    {"u32", 32, Family::unsigned_integer},
    {"u64", 64, Family::unsigned_integer},
    {"c64", 64, Family::complex},
    {"c128", 128, Family::complex},
    {"bf16", 16, Family::floating},
    {"f8e4m3fn", 8, Family::floating},
    {"f8e4m3fnuz", 8, Family::floating},
    {"f8e5m2", 8, Family::floating},
    {"f8e5m2fnuz", 8, Family::floating},
    {"u4", 4, Family::unsigned_integer},
    {"i4", 4, Family::signed_integer},
    {"f4e2m1", 4, Family::floating},
    {"f8e8m0", 8, Family::floating},
    {"u2", 2, Family::unsigned_integer},
    {"i2", 2, Family::signed_integer},
}};

constexpr Row kSequence = {"seq", 0, Family::other}, kOptional = {"optional", 0, Family::other}, kMap = {"map", 0, Family::other};

const Row& row_of(DType dtype) {
  if (dtype == DType::sequence) return kSequence;
  if (dtype == DType::optional) return kOptional;
  if (dtype == DType::map) return kMap;
  const auto index = static_cast<size_t>(dtype);
  return kRows[index < kRows.size() ? index : 0];
}

}  // namespace

std::optional<DType> dtype_named(std::string_view name) {
  for (size_t i = 1; i < kRows.size(); ++i) {
    if (kRows[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

std::optional<DType> dtype_from_onnx(int64_t number) {
  if (number <= 0 || number >= kDTypeCount) return std::nullopt;
  return static_cast<DType>(number);
}

int bits_of(DType dtype) { return row_of(dtype).bits; }

int64_t bytes_of(DType dtype, int64_t count) {
  const int bits = bits_of(dtype);
  return bits % 8 == 0 ? count * (bits / 8) : (count * bits + 7) / 8;
}

bool is_float(DType dtype) { return row_of(dtype).family == Family::floating; }

bool is_integer(DType dtype) {
  const Family family = row_of(dtype).family;
  return family == Family::signed_integer || family == Family::unsigned_integer;
}

bool is_signed(DType dtype) {
  const Family family = row_of(dtype).family;
  return family == Family::signed_integer || family == Family::floating;
}

bool is_lossless_cast(DType from, DType to) {
  if (from == to) return true;
  if (from == DType::boolean) return is_integer(to) || is_arithmetic_float(to);
  if (is_integer(from) && is_integer(to)) {
    if (is_signed(from) && !is_signed(to)) return false;
    return bits_of(to) > bits_of(from);
  }
  if (is_integer(from) && is_arithmetic_float(to)) {
    const int exact = to == DType::f64 ? 53 : to == DType::f32 ? 24 : to == DType::f16 ? 11 : 8;
    return bits_of(from) <= exact;
  }
  if (!is_arithmetic_float(from) || !is_arithmetic_float(to)) return false;
  return to == DType::f64 || (to == DType::f32 && bits_of(from) == 16);
}

}  // namespace tenon::inline base

namespace tenon::inline v1 {

std::string_view name_of(DType dtype) { return base::row_of(dtype).name; }

}  // namespace tenon::inline v1
