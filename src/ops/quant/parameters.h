// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/contract/product.h"

namespace tenon::ops {

/// i8 or u8, the dtypes of operands of integer contractions.
bool is_byte(DType dtype);
/// Whether a scale or zero point with several elements has one a row, [n] or [..., n, 1], or one a column, [n] or [..., 1, n].
enum class Side { rows, columns };
/// Loads scale or zero point `input` in a loop over a result of shape `shape`; m, n: numbers of its axes of rows and columns, -1 where
/// missing.
Expr load_parameter(Loop& loop, const NodeView& view, size_t input, Side side, const DimList& shape, int m, int n);
/// Operand `input` has one element or one of these shapes, for a result of shape `shape`. Errors: rank_mismatch, shape_mismatch.
Result<void> require_parameter(const NodeView& view, size_t input, Side side, const DimList& shape);
/// The element of the scale or zero point `t` for index `at` of a result of shape `shape`.
double parameter_at(const Tensor& t, Side side, const Sizes& at, const Sizes& shape);
/// Rounds to nearest even, adds the zero point and saturates.
Expr requantized(Expr value, Expr zero_point, DType dtype);
double requantized(double value, double zero_point, DType dtype);

}  // namespace tenon::ops
