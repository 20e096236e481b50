// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <functional>

#include "ops/reference/arguments.h"
#include "ops/reference/indices.h"
#include "ops/reference/integers.h"

namespace tenon::ops {

using Unary = std::function<double(double)>;
using IntUnary = std::function<int64_t(int64_t)>;
using Binary = std::function<double(double, double)>;
using IntBinary = std::function<int64_t(int64_t, int64_t)>;
using UnsignedBinary = std::function<uint64_t(uint64_t, uint64_t)>;

/// Result 0 element by element: doubles for floats, int64 for integers and bool (wrapped to the dtype when stored).
/// What it reads as decides. A null function means that this kind of dtype is refused with not_supported.
Result<void> each(Call& call, const Unary& number, const IntUnary& integer = {});
/// The same over broadcast operands 0 and 1; u64 goes through `natural` where it is given, else through `integer`
/// (right for everything that wraps).
Result<void> each(Call& call, const Binary& number, const IntBinary& integer = {}, const UnsignedBinary& natural = {});
/// Folds all operands, broadcast, from the left; `finish` gets the result and the number of operands.
Result<void> fold(Call& call, const Binary& number, const IntBinary& integer = {}, const UnsignedBinary& natural = {},
                  const std::function<double(double, size_t)>& finish = {});

/// `.reference = unary_reference<[](double x) { return std::exp(x); }>`
template <auto number>
Result<void> unary_reference(Call& call) {
  return each(call, Unary(number));
}

template <auto number, auto integer>
Result<void> number_reference(Call& call) {
  return each(call, Unary(number), IntUnary(integer));
}

}  // namespace tenon::ops
