// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/contract/product.h"

namespace tenon::ops {

/// 8-bit integers, the operands of the integer contractions.
bool is_byte(DType dtype);
/// A scale or zero point that is one for all, or one a row or column: [n], [..., n, 1] (`side` a: rows) or [..., 1, n] (columns).
enum class Side { rows, columns };
/// Reads it in a loop whose result shape is `shape` and whose last two axes are rows and columns (`m`, `n`: -1 where missing).
Expr load_parameter(Loop& loop, const NodeView& view, size_t input, Side side, const DimList& shape, int m, int n);
/// It is of one of these forms for a result of shape `shape`. Errors: rank_mismatch, shape_mismatch.
Result<void> require_parameter(const NodeView& view, size_t input, Side side, const DimList& shape);
/// The element after position `at` of a result of shape `shape`.
double parameter_at(const Tensor& t, Side side, const Sizes& at, const Sizes& shape);
/// Rounds to nearest even, adds the zero point and saturates.
Expr requantized(Expr value, Expr zero_point, DType dtype);
double requantized(double value, double zero_point, DType dtype);

}  // namespace tenon::ops
