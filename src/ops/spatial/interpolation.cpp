// SPDX-License-Identifier: Apache-2.0
#include "ops/spatial/interpolation.h"

#include "ops/form/loops.h"

namespace tenon::ops {

Expr zero_of(DType dtype) { return is_float(dtype) ? Expr::constant(dtype, 0) : Expr::integer(dtype, 0); }

Expr inside(Expr index, Dim size) { return logical_and(index_constant(0) <= index, index < size_expr(size)); }

std::vector<Tap> linear_taps(Expr x, Dim size) {
  const Expr base = unary(ExprOp::floor, x), rest = x - base, first = cast(base, DType::i64), second = first + index_constant(1);
  return {{first, 1 - rest, inside(first, size)}, {second, rest, inside(second, size)}};
}

namespace {

Expr both(Expr a, Expr b) { return a && b ? logical_and(a, b) : a ? a : b; }

/// Adds to the sum the reads of `source` at all taps of the axes from `axis` on, times `weight` (null: 1).
void add_taps(Loop& loop, const Access& source, std::span<const std::vector<Tap>> axes, DType dtype, Expr weight, Expr& sum) {
  if (axes.empty()) {
    Access access = source;
    if (access.within) access.fill = zero_of(access.dtype);
    const Expr value = cast(load(loop, std::move(access)), dtype);
    const Expr term = weight ? value * cast(weight, dtype) : value;
    sum = sum ? sum + term : term;
    return;
  }
  for (const Tap& tap : axes[0]) {
    Access at = source;
    at.index.push_back(tap.index);
    at.within = both(at.within, tap.within);
    add_taps(loop, at, axes.subspan(1), dtype, weight ? weight * tap.weight : tap.weight, sum);
  }
}

}  // namespace

Expr interpolated(Loop& loop, const Access& source, std::span<const std::vector<Tap>> axes, DType dtype) {
  Expr sum;
  add_taps(loop, source, axes, dtype, {}, sum);
  return sum;
}

}  // namespace tenon::ops
