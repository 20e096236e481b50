// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "ops/form/loops.h"
#include "ops/reference/indices.h"

namespace tenon::ops {

/// A loop over the index space `shape` of which `row` axes make up one row; `whole` indexes a tensor of that shape, `kept` one
/// without the row axes.
struct RowLoop {
  Loop loop;
  std::vector<Expr> whole, kept;

  Expr operand(const NodeView& view, size_t input) { return widen(load(loop, read(view, input, whole))); }
  Expr of_row(int earlier, DType dtype, int output = 0) { return load(loop, read_earlier(earlier, output, dtype, kept)); }
  Expr of_element(int earlier, DType dtype, int output = 0) { return load(loop, read_earlier(earlier, output, dtype, whole)); }
};
/// Row axes are reduced and innermost; without row axes it is a map.
RowLoop reduce_rows(const DimList& shape, std::span<const int> row);
/// All axes parallel, in their order.
RowLoop map_rows(const DimList& shape, std::span<const int> row);
/// Parallel over the kept axes only; `whole` is empty.
RowLoop each_row(const DimList& shape, std::span<const int> row);
/// The shape with 1 for each row axis; without them where `keepdims` is false.
DimList reduced_shape(const DimList& shape, std::span<const int> row, bool keepdims);
/// Adds an output over the loop's parallel axes. combine is dropped where nothing is reduced.
void emit(RowLoop& rows, DType dtype, DimList shape, Expr value, Combine combine = Combine::none);
/// Adds an output of a loop over rows that is stored with size-1 row axes (keepdims).
void emit_kept(RowLoop& rows, DType dtype, const DimList& shape, std::span<const int> row, bool keepdims, Expr value,
               Combine combine = Combine::none);
/// Number of elements of a row, as `dtype`.
Expr row_count(const DimList& shape, std::span<const int> row, DType dtype);
/// Axes first, first + 1, ..., rank - 1.
std::vector<int> axes_from(int first, int rank);

/// Position of element `index` of the kept axes plus the row: base offsets of the rows and offsets inside one, for references.
struct RowOffsets {
  std::vector<int64_t> bases, inner;
};
/// Row-major over the kept axes, and over the row axes.
RowOffsets row_offsets(const Sizes& shape, std::span<const int> row);

}  // namespace tenon::ops
