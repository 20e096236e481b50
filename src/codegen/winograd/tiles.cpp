// SPDX-License-Identifier: Apache-2.0
#include "codegen/winograd/tiles.h"

namespace tenon::codegen {

using C = Convolution;

ops::Axis parallel_axis(Dim extent) { return {ops::Axis::Kind::parallel, extent}; }
ops::Axis reduced_axis(Dim extent) { return {ops::Axis::Kind::reduced, extent}; }
Expr index_of(int64_t value) { return Expr::integer(DType::i64, value); }
Expr conjunction(const Expr& a, const Expr& b) { return a && b ? logical_and(a, b) : a ? a : b; }

Group auxiliary_group(Nest nest) {
  Group g;
  g.as<LoopGroup>().auxiliary = true;
  g.nests.push_back(std::move(nest));
  return g;
}

Nest TileGrid::loop(Dim channels) const {
  Nest nest;
  nest.axes = {parallel_axis(c_.images), parallel_axis(down_), parallel_axis(across_), parallel_axis(channels)};
  nest.nodes = nest_.nodes;
  return nest;
}

Expr TileGrid::coordinate(TileAxis squares, Dim at) const { return simplify(Expr::axis(squares) * index_of(step_) + Expr::dim(at)); }

Expr TileGrid::in_range(TileAxis squares, Dim at, Dim from, Dim to) const {
  const Dim last = (squares == kDown ? down_ : across_) * step_ - step_ + at;
  const Expr place = coordinate(squares, at);
  Expr out;
  if (!from.less(at + 1).value_or(false)) out = Expr::dim(from) <= place;
  if (!last.less(to).value_or(false)) out = conjunction(out, place < Expr::dim(to));
  return out;
}

NestAccess TileGrid::element(int64_t i, int64_t j, TileAxis channels) const {
  const NestAccess& data = nest_.accesses[static_cast<size_t>(c_.data)];
  const Dim row = c_.first_row + i, column = c_.first_column + j;
  NestAccess out{data.array, data.dtype, {}, {}, {}, {}};
  for (int d = 0; d < static_cast<int>(data.index.size()); ++d) {
    if (d == c_.data_rows) out.index.push_back(coordinate(kDown, row));
    else if (d == c_.data_columns) out.index.push_back(coordinate(kAcross, column));
    else
      out.index.push_back(simplify(substitute(data.index[static_cast<size_t>(d)], [&](const ExprNode& n) {
        return n.op != ExprOp::axis ? Expr() : Expr::axis(n.index == C::batch ? kImage : channels);
      })));
  }
  out.within = conjunction(in_range(kDown, row, c_.rows->from, c_.rows->to), in_range(kAcross, column, c_.columns->from, c_.columns->to));
  if (out.within) out.fill = Expr::constant(data.dtype, 0);
  return out;
}

}  // namespace tenon::codegen
