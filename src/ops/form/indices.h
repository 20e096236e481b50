// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "ops/core/loop.h"
#include "ops/core/op.h"

namespace tenon::ops {

/// A size as an i64 expression; numbers become integer constants.
Expr size_expr(Dim size);
inline Expr index_constant(int64_t value) { return Expr::integer(DType::i64, value); }
/// The expression cast to `dtype`; the same expression where it has that dtype already.
Expr cast_expr(Expr e, DType dtype);
/// Index expressions axis(first), axis(first + 1), ... one a dimension.
std::vector<Expr> axis_indices(int count, int first = 0);
/// numpy broadcasting: the index at which a loop over `to` (axes first, first + 1, ...) reads a tensor of shape `from`. A dimension that
/// is the number 1 gives 0; one known equal gives the axis; any other gives axis * (size == 1 ? 0 : 1).
std::vector<Expr> broadcast_index(const DimList& from, const DimList& to, int first = 0);
/// A loaded index as i64, where negative ones count from the end of an axis of `size`.
Expr wrapped_index(Expr loaded, Dim size);
/// The row-major position of `index` in `shape`; and the index of a row-major position.
Expr linear_index(std::span<const Expr> index, const DimList& shape);
std::vector<Expr> delinearized_index(Expr position, const DimList& shape);
/// The index, in a tensor of shape `from`, of element (axis 0, axis 1, ...) of a tensor of shape `to` with the same elements in the same
/// order.
std::vector<Expr> reshape_index(const DimList& from, const DimList& to);
/// `shape` without the sizes of `axes`.
DimList without_axes(const DimList& shape, std::span<const int> axes);

}  // namespace tenon::ops
