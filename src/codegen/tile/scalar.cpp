// SPDX-License-Identifier: Apache-2.0
#include "codegen/tile/scalar.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/expr/evaluate.h"
#include "base/scalar.h"

namespace tenon::codegen {

Scalar rounded(DType dtype, Scalar v) {
  if (is_float(dtype)) return {round_to(dtype, v.number), 0};
  return {0, wrap_integer(dtype, v.integer)};
}

Scalar apply(ExprOp op, DType operand, DType result, std::span<const Scalar> args) {
  const auto at = [&](size_t k) { return k < args.size() ? args[k] : Scalar{}; };
  return base::apply(op, operand, result, at(0), at(1), at(2), true);
}

Scalar fused_multiply_add(DType d, Scalar a, Scalar b, Scalar c) {
  switch (d) {
    case DType::f64: return {std::fma(a.number, b.number, c.number), 0};
    case DType::f32:
    case DType::f16:
    case DType::bf16: {
      const float sum = std::fma(static_cast<float>(a.number), static_cast<float>(b.number), static_cast<float>(c.number));
      return rounded(d, {sum, 0});
    }
    default: return apply(ExprOp::add, d, d, std::array{apply(ExprOp::mul, d, d, std::array{a, b}), c});
  }
}

namespace {
double without_denormals(double value) { return std::fabs(value) < std::numeric_limits<float>::min() ? std::copysign(0.0, value) : value; }
}  // namespace

Scalar add_group(DType sum_dtype, std::span<const Scalar> a, std::span<const Scalar> b, Scalar sum) {
  for (size_t j = a.size(); j-- > 0;) {
    if (sum_dtype != DType::f32) {
      sum.integer = wrap_integer(sum_dtype, sum.integer + a[j].integer * b[j].integer);
      continue;
    }
    const Scalar x{without_denormals(a[j].number), 0}, y{without_denormals(b[j].number), 0}, z{without_denormals(sum.number), 0};
    sum.number = without_denormals(fused_multiply_add(DType::f32, x, y, z).number);
  }
  return sum;
}

Scalar combine(ops::Combine combination, DType dtype, Scalar a, Scalar b) {
  using ops::Combine;
  static constexpr ExprOp table[] = {ExprOp::add, ExprOp::add,         ExprOp::mul,       ExprOp::min,
                                     ExprOp::max, ExprOp::logical_and, ExprOp::logical_or};
  return apply(table[static_cast<size_t>(combination)], dtype, dtype, std::array{a, b});
}

Scalar read_element(DType dtype, const std::byte* from) {
  uint64_t raw = 0;
  std::memcpy(&raw, from, bits_of(dtype) / 8);
  if (is_float(dtype)) return {decode_float(dtype, raw), 0};
  return {0, wrap_integer(dtype, static_cast<int64_t>(raw))};
}

void write_element(DType dtype, Scalar value, std::byte* to) {
  const uint64_t raw = is_float(dtype) ? encode_float(dtype, value.number, false) : static_cast<uint64_t>(value.integer);
  std::memcpy(to, &raw, bits_of(dtype) / 8);
}

}  // namespace tenon::codegen
