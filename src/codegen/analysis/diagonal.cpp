// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/diagonal.h"

#include <algorithm>

#include "codegen/analysis/diagonal_shift.h"
#include "codegen/analysis/nest_properties.h"

namespace tenon::codegen {

namespace {

template <class F>
void each_expression(Nest& nest, F f) {
  for (NestOutput& o : nest.outputs) f(o.value);
  for (NestAccess& a : nest.accesses) {
    for (Expr& e : a.index) f(e);
    for (Expr* e : {&a.flat, &a.within, &a.fill})
      if (*e) f(*e);
  }
}

/// Whether some load has the axis itself as an index, as most maps have for each axis: then its elements differ along diagonals.
bool depends_on_axis(const Nest& map, int axis) {
  const auto plain = [&](const Expr& e) { return e.op() == ExprOp::axis && e->index == axis; };
  return std::ranges::any_of(map.accesses, [&](const NestAccess& a) { return std::ranges::any_of(a.index, plain); });
}

}  // namespace

std::optional<Nest> shift_to_diagonals(const Nest& map, Diagonal d) {
  if (depends_on_axis(map, d.row) || depends_on_axis(map, d.column)) return std::nullopt;
  Nest out = map;
  DiagonalShift shift(d, map.axes[d.row].extent);
  bool rows = false, columns = false, fits = true;
  each_expression(out, [&](Expr& e) {
    if (!fits) return;
    rows |= mentions(e, ExprOp::axis, d.row);
    columns |= mentions(e, ExprOp::axis, d.column);
    e = shift(e);
    fits = static_cast<bool>(e);
  });
  return fits && rows && columns ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<Diagonal> diagonal_of(const Nest& map) {
  if (!is_map(map)) return std::nullopt;
  const int axes = static_cast<int>(map.axes.size());
  for (int column = axes - 1; column > 0; --column)
    for (int row = column - 1; row >= 0; --row) {
      if (map.axes[row].extent == Dim(1) || map.axes[column].extent == Dim(1)) continue;
      if (shift_to_diagonals(map, {row, column})) return Diagonal{row, column};
    }
  return std::nullopt;
}

}  // namespace tenon::codegen
