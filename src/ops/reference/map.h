// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <functional>

#include "ops/reference/arguments.h"
#include "ops/reference/indices.h"
#include "ops/reference/integers.h"

namespace tenon::ops {

using FloatUnary = std::function<double(double)>;
using IntUnary = std::function<int64_t(int64_t)>;
using FloatBinary = std::function<double(double, double)>;
using IntBinary = std::function<int64_t(int64_t, int64_t)>;
using UnsignedBinary = std::function<uint64_t(uint64_t, uint64_t)>;

/// Computes result 0 element by element from operand 0: by `number` for floats, by `integer` for integers and bool (wrapped to the dtype
/// when stored). The dtype of the operand decides. A null function: operands of that kind are refused with not_supported.
Result<void> map_elements(Call& call, const FloatUnary& number, const IntUnary& integer = {});
/// The same over broadcast operands 0 and 1; u64 goes through `on_unsigned` where it is given, else through `integer`
/// (right for everything that wraps).
Result<void> map_elements(Call& call, const FloatBinary& number, const IntBinary& integer = {}, const UnsignedBinary& on_unsigned = {});
/// Combines all operands, broadcast, from the left: op(op(a, b), c). `finish`, for floats, maps each element of the result; its second
/// argument is the number of operands.
Result<void> combine_operands(Call& call, const FloatBinary& number, const IntBinary& integer = {}, const UnsignedBinary& on_unsigned = {},
                              const std::function<double(double, size_t)>& finish = {});

/// `.reference = unary_reference<[](double x) { return std::exp(x); }>`
template <auto number>
Result<void> unary_reference(Call& call) {
  return map_elements(call, FloatUnary(number));
}

template <auto number, auto integer>
Result<void> number_reference(Call& call) {
  return map_elements(call, FloatUnary(number), IntUnary(integer));
}

}  // namespace tenon::ops
