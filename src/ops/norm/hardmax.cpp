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

/// The extreme value, its first position, and a map that marks it.
Result<LoopForm> form(const NodeView& view) {
  TRY(require_ranks(view));
  const std::vector<int> axis{TRY(axis_attribute(view))};
  const DimList& shape = *view.type(0).shape;
  const DType dtype = view.type(0).dtype, wide = compute_dtype(dtype);
  RowLoop top = reduce_rows(shape, axis);
  emit(top, wide, without(shape, axis), top.operand(view, 0), Combine::max);
  RowLoop where = reduce_rows(shape, axis);
  const Expr x = where.operand(view, 0), hit = logical_or(equal(x, where.of_row(0, wide)), unary(ExprOp::is_nan, x));
  emit(where, DType::i64, without(shape, axis), select(hit, where.whole[axis[0]], size_expr(shape[axis[0]])), Combine::min);
  RowLoop mark = map_rows(shape, axis);
  const Expr first = mark.of_row(1, DType::i64);
  emit(mark, dtype, shape, select(equal(mark.whole[axis[0]], first), Expr::constant(dtype, 1), Expr::constant(dtype, 0)));
  return chain({std::move(top.loop), std::move(where.loop), std::move(mark.loop)});
}

}  // namespace

OP(hardmax) = softmax_op({
    .name = "Hardmax",
    .form = form,
    .reference = [](Call& call) { return each_row_in_place(call, row); },
});

}  // namespace tenon::ops::op_hardmax
