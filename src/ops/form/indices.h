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
/// No cast where it has that dtype already.
Expr cast_expr(Expr e, DType dtype);
/// Index expressions axis(first), axis(first + 1), ... one a dimension.
std::vector<Expr> axis_indices(int count, int first = 0);
/// numpy broadcasting: where a loop over `to` (axes first, first + 1, ...) reads a tensor of shape `from`. A dimension that
/// is the number 1 gives 0; one known equal gives the axis; any other gives axis * (size == 1 ? 0 : 1).
std::vector<Expr> broadcast_index(const DimList& from, const DimList& to, int first = 0);
/// An i64 expression for an indirect load of an index operand, negative ones counted from `size`.
Expr wrapped_index(Expr loaded, Dim size);
/// Row-major position of `index` in `shape`; and back: the indices of a position.
Expr linear_index(std::span<const Expr> index, const DimList& shape);
std::vector<Expr> unlinear_index(Expr position, const DimList& shape);
/// Where element (axis 0, axis 1, ...) of shape `to` is in a tensor of shape `from` with the same elements in the same order.
std::vector<Expr> reshape_index(const DimList& from, const DimList& to);
/// The sizes of all other axes.
DimList without(const DimList& shape, std::span<const int> axes);

}  // namespace tenon::ops
