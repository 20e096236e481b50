// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "ops/core/loop.h"

namespace tenon::ops {

/// Where an interpolated read looks along one axis: an i64 index, its weight (a float) and, unless null, whether it lies in the data.
struct Tap {
  Expr index, weight, within;
};

/// The two neighbours of coordinate `x`, weighted by their distances; what lies outside of 0 .. size - 1 counts as 0.
std::vector<Tap> linear_taps(Expr x, Dim size);
/// Is 0 <= index < size?
Expr inside(Expr index, Dim size);
/// Sum over all combinations of one tap an axis of weights * source[index]; `source.index` holds the axes before, `source.within` (or
/// null) says whether anything is read. With one tap an axis: the element itself.
Expr interpolated(Loop& loop, const Access& source, std::span<const std::vector<Tap>> axes, DType dtype);
/// A constant 0 of any number dtype.
Expr zero_of(DType dtype);

}  // namespace tenon::ops
