// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "ops/core/loop.h"
#include "ops/infer/infer.h"

namespace tenon::ops {

/// A size as an i64 expression; numbers become integer constants.
Expr size_expr(Dim size);
inline Expr index_constant(int64_t value) { return Expr::integer(DType::i64, value); }
/// f16 and bf16 are computed in f32; other dtypes stay.
DType compute_dtype(DType dtype);
Expr widen(Expr e);
/// Index expressions axis(first), axis(first + 1), ... one a dimension.
std::vector<Expr> axis_indices(int count, int first = 0);
/// numpy broadcasting: where a loop over `to` (axes first, first + 1, ...) reads a tensor of shape `from`. A dimension that
/// is the number 1 gives 0; one known equal gives the axis; any other gives axis * (size == 1 ? 0 : 1).
std::vector<Expr> broadcast_index(const DimList& from, const DimList& to, int first = 0);
std::vector<Axis> parallel_axes(const DimList& shape);
/// The sizes of all other axes.
DimList without(const DimList& shape, std::span<const int> axes);
/// An access to operand `input` of the node.
Access read(const NodeView& view, size_t input, std::vector<Expr> index);
/// An access to output `output` of an earlier loop.
Access read_earlier(int loop, int output, DType dtype, std::vector<Expr> index);
/// Adds the access and gives the expression that loads it (not widened).
Expr load(Loop& loop, Access access);
/// An i64 expression for an indirect load of an index operand, negative ones counted from `size`.
Expr wrapped_index(Expr loaded, Dim size);
/// The rank of every present operand and result is known. Errors: not_supported.
Result<void> require_ranks(const NodeView& view);

/// One output over the parallel axes of `shape`; value is cast to the dtype.
Output whole(DType dtype, const DimList& shape, Expr value);
/// A form of one loop whose outputs are the results.
LoopForm single(Loop loop);
/// A form whose result 0 is output 0 of its last loop.
LoopForm chain(std::vector<Loop> loops);

/// Element-wise: every operand broadcast to the shape of result 0. `body` gets one widened expression an operand (null for
/// a missing one); what it gives is cast to the result's dtype.
using MapBody = std::function<Expr(std::span<const Expr>)>;
Result<LoopForm> map_form(const NodeView& view, const MapBody& body);
/// `.form = map_of<[](std::span<const Expr> x) { return exp(x[0]); }>`
template <auto body>
Result<LoopForm> map_of(const NodeView& view) {
  return map_form(view, body);
}
/// `.form = unary_of<[](Expr x) { return exp(x); }>`, also binary.
template <auto body>
Result<LoopForm> unary_of(const NodeView& view) {
  return map_form(view, [](std::span<const Expr> x) { return body(x[0]); });
}
template <auto body>
Result<LoopForm> binary_of(const NodeView& view) {
  return map_form(view, [](std::span<const Expr> x) { return body(x[0], x[1]); });
}

/// One access: result 0 [axes...] = operand[index(axes...)], cast to the result's dtype.
Result<LoopForm> index_form(const NodeView& view, size_t input, std::vector<Expr> index, Expr within = {}, Expr fill = {});

/// Row-major position of `index` in `shape`; and back: the indices of a position.
Expr linear_index(std::span<const Expr> index, const DimList& shape);
std::vector<Expr> unlinear_index(Expr position, const DimList& shape);
/// Where element (axis 0, axis 1, ...) of shape `to` stands in a tensor of shape `from` with the same elements in the same order.
std::vector<Expr> reshape_index(const DimList& from, const DimList& to);

/// Reduces operand 0 over `axes` (sorted, non-negative). before: on each widened element; after: on the result, with the
/// number of reduced elements as an i64 expression (null: nothing).
Result<LoopForm> reduce_form(const NodeView& view, std::span<const int> axes, bool keepdims, Combine combine,
                             const std::function<Expr(Expr)>& before = {}, const std::function<Expr(Expr, Expr count)>& after = {});

/// One pass over the rows of operand 0.
struct RowStep {
  Combine combine = Combine::none;                  ///< none: a map over the whole row; else the row's axes are reduced (and dropped)
  DType dtype = DType::f32;                         ///< of the step's output; the last step is cast to the result's dtype
  std::function<Expr(std::span<const Expr>)> body;  ///< x[0]: operand 0 (widened); x[1 + k]: output of step k, broadcast along the row
};
/// Steps over the rows of operand 0 along `axes`: each step sees the operand and the outputs of all earlier steps. The last step gives
/// result 0. Softmax: {max, x}, {sum, exp(x - s0)}, {none, exp(x - s0) / s1}.
Result<LoopForm> row_form(const NodeView& view, std::span<const int> axes, std::span<const RowStep> steps);

}  // namespace tenon::ops
