// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "ops/core/loop.h"

namespace tenon::ops {

/// One sample of an interpolation along one axis: an i64 index, its weight (a float) and the predicate that it lies in the data (null:
/// always).
struct Tap {
  Expr index, weight, within;
};

/// The two neighbours of coordinate `x`, weighted by their distances; what lies outside of 0 .. size - 1 counts as 0.
std::vector<Tap> linear_taps(Expr x, Dim size);
/// The predicate 0 <= index < size.
Expr inside(Expr index, Dim size);
/// The sum of weights * source[index] over all combinations of one tap an axis. `source.index` has the indices of the axes before; nothing
/// is read where `source.within` (unless null) is false. With one tap an axis: the element itself.
Expr interpolated(Loop& loop, const Access& source, std::span<const std::vector<Tap>> axes, DType dtype);
/// A constant 0 of any number dtype.
Expr zero_of(DType dtype);

}  // namespace tenon::ops
