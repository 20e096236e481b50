// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/rows.h"

#include <algorithm>

namespace tenon::ops {

namespace {

bool holds(std::span<const int> axes, int axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }

}  // namespace

RowLoop reduce_rows(const DimList& shape, std::span<const int> row) {
  RowLoop r;
  const int rank = static_cast<int>(shape.size());
  r.element_index.resize(rank);
  for (const bool reduced : {false, true}) {
    for (int k = 0; k < rank; ++k) {
      if (holds(row, k) != reduced) continue;
      r.element_index[k] = Expr::axis(static_cast<int>(r.loop.axes.size()));
      if (!reduced) r.row_index.push_back(r.element_index[k]);
      r.loop.axes.push_back({reduced ? Axis::Kind::reduced : Axis::Kind::parallel, shape[k]});
    }
  }
  return r;
}

RowLoop map_rows(const DimList& shape, std::span<const int> row) {
  RowLoop r;
  for (int k = 0; k < static_cast<int>(shape.size()); ++k) {
    r.element_index.push_back(Expr::axis(k));
    if (!holds(row, k)) r.row_index.push_back(r.element_index[k]);
    r.loop.axes.push_back({Axis::Kind::parallel, shape[k]});
  }
  return r;
}

RowLoop each_row(const DimList& shape, std::span<const int> row) {
  RowLoop r;
  for (const Dim& d : without_axes(shape, row)) {
    r.row_index.push_back(Expr::axis(static_cast<int>(r.loop.axes.size())));
    r.loop.axes.push_back({Axis::Kind::parallel, d});
  }
  return r;
}

DimList reduced_shape(const DimList& shape, std::span<const int> row, bool keepdims) {
  DimList out;
  for (int k = 0; k < static_cast<int>(shape.size()); ++k) {
    if (!holds(row, k)) out.push_back(shape[k]);
    else if (keepdims) out.push_back(1);
  }
  return out;
}

void add_output(RowLoop& rows, DType dtype, DimList shape, Expr value, Combine combine) {
  const bool reduces =
      std::any_of(rows.loop.axes.begin(), rows.loop.axes.end(), [](const Axis& a) { return a.kind != Axis::Kind::parallel; });
  Output out;
  out.dtype = dtype;
  out.shape = std::move(shape);
  out.value = cast(std::move(value), dtype);
  out.combine = reduces ? combine : Combine::none;
  rows.loop.outputs.push_back(std::move(out));
}

void add_row_output(RowLoop& rows, DType dtype, const DimList& shape, std::span<const int> row, bool keepdims, Expr value,
                    Combine combine) {
  add_output(rows, dtype, reduced_shape(shape, row, keepdims), std::move(value), combine);
  if (!keepdims) return;
  size_t next = 0;
  for (int k = 0; k < static_cast<int>(shape.size()); ++k)
    rows.loop.outputs.back().index.push_back(holds(row, k) ? index_constant(0) : rows.row_index[next++]);
}

Expr row_count(const DimList& shape, std::span<const int> row, DType dtype) {
  Dim n = 1;
  for (int k : row) n = n * shape[k];
  return n.is_number() && is_float(dtype) ? Expr::constant(dtype, static_cast<double>(n.value())) : cast(size_expr(n), dtype);
}

std::vector<int> axes_from(int first, int rank) {
  std::vector<int> out;
  for (int k = first; k < rank; ++k) out.push_back(k);
  return out;
}

RowOffsets row_offsets(const Sizes& shape, std::span<const int> row) {
  RowOffsets out;
  const Sizes strides = strides_of(shape);
  for (const bool inside : {false, true}) {
    std::vector<int64_t> offsets{0};
    for (int k = 0; k < static_cast<int>(shape.size()); ++k) {
      if (holds(row, k) != inside) continue;
      std::vector<int64_t> next;
      next.reserve(offsets.size() * shape[k]);
      for (int64_t base : offsets)
        for (int64_t i = 0; i < shape[k]; ++i) next.push_back(base + i * strides[k]);
      offsets = std::move(next);
    }
    (inside ? out.inner : out.bases) = std::move(offsets);
  }
  return out;
}

}  // namespace tenon::ops
