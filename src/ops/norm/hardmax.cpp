// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ops/infer/axes.h"
#include "ops/norm/softmax_rows.h"

namespace tenon::ops::op_hardmax {

namespace {

void row(std::span<double> x) {
  const auto top = std::max_element(x.begin(), x.end(), [](double a, double b) { return a == a && (b != b || a < b); }) - x.begin();
  std::fill(x.begin(), x.end(), 0.0);
  x[top] = 1;
}

/// Three loops: the maximum of each row, its first position, and a map that is 1 there.
Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  const std::vector<int> axis{TRY(axis_attribute(view))};
  const DimList& shape = *view.type(0).shape;
  const DType dtype = view.type(0).dtype, wide = compute_dtype(dtype);
  RowLoop top = reduce_rows(shape, axis);
  add_output(top, wide, without_axes(shape, axis), top.load_operand(view, 0), Combine::max);
  RowLoop where = reduce_rows(shape, axis);
  const Expr x = where.load_operand(view, 0), hit = logical_or(equal(x, where.load_of_row(0, wide)), unary(ExprOp::is_nan, x));
  add_output(where, DType::i64, without_axes(shape, axis), select(hit, where.element_index[axis[0]], size_expr(shape[axis[0]])),
             Combine::min);
  RowLoop mark = map_rows(shape, axis);
  const Expr first = mark.load_of_row(1, DType::i64);
  add_output(mark, dtype, shape, select(equal(mark.element_index[axis[0]], first), Expr::constant(dtype, 1), Expr::constant(dtype, 0)));
  return loop_sequence_form({std::move(top.loop), std::move(where.loop), std::move(mark.loop)});
}

}  // namespace

OP(hardmax) = softmax_op({
    .name = "Hardmax",
    .loop_form = loop_form,
    .reference = [](Call& call) { return each_row_in_place(call, row); },
});

}  // namespace tenon::ops::op_hardmax
