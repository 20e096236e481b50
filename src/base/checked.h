// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>

namespace tenon::inline base {

/// Signed 64-bit arithmetic that says when it overflows.
inline std::optional<int64_t> checked_add(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_add_overflow(a, b, &r) ? std::nullopt : std::optional(r);
}
inline std::optional<int64_t> checked_sub(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_sub_overflow(a, b, &r) ? std::nullopt : std::optional(r);
}
inline std::optional<int64_t> checked_mul(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_mul_overflow(a, b, &r) ? std::nullopt : std::optional(r);
}
/// Product of sizes >= 0; an empty list gives 1. nullopt on overflow or a negative size.
inline std::optional<int64_t> checked_count(std::span<const int64_t> sizes) {
  int64_t n = 1;
  bool zero = false;
  for (int64_t s : sizes) {
    if (s < 0) return std::nullopt;
    zero |= s == 0;
  }
  if (zero) return 0;
  for (int64_t s : sizes) {
    auto next = checked_mul(n, s);
    if (!next) return std::nullopt;
    n = *next;
  }
  return n;
}

/// Division that rounds towards minus infinity; b != 0.
constexpr int64_t floor_div(int64_t a, int64_t b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }
constexpr int64_t ceil_div(int64_t a, int64_t b) { return -floor_div(-a, b); }
constexpr int64_t floor_mod(int64_t a, int64_t b) { return a - b * floor_div(a, b); }
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

}  // namespace tenon::inline base
