// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "ops/form/loops.h"
#include "ops/reference/indices.h"

namespace tenon::ops {

/// A loop over the elements of a tensor of shape `shape`, some axes of which (`row` in the functions below) make up one row.
struct RowLoop {
  Loop loop;
  std::vector<Expr> element_index;  ///< index of the current element in a tensor of that shape
  std::vector<Expr> row_index;      ///< index of the current row in a tensor without the row axes

  /// Loads the current element of an operand of that shape (widened).
  Expr load_operand(const NodeView& view, size_t input) { return to_compute_dtype(load(loop, operand_access(view, input, element_index))); }
  /// Loads the value that an earlier loop has computed for the current row, or for the current element.
  Expr load_of_row(int from_loop, DType dtype, int output = 0) {
    return load(loop, loop_output_access(from_loop, output, dtype, row_index));
  }
  Expr load_of_element(int from_loop, DType dtype, int output = 0) {
    return load(loop, loop_output_access(from_loop, output, dtype, element_index));
  }
};
/// A loop that reduces each row: row axes are reduced and innermost; without row axes it is a map.
RowLoop reduce_rows(const DimList& shape, std::span<const int> row);
/// A loop over all elements: all axes parallel, in their order.
RowLoop map_rows(const DimList& shape, std::span<const int> row);
/// A loop with one iteration a row: parallel over the other axes; `element_index` is empty.
RowLoop each_row(const DimList& shape, std::span<const int> row);
/// The shape with 1 for each row axis, or without them where `keepdims` is false.
DimList reduced_shape(const DimList& shape, std::span<const int> row, bool keepdims);
/// Adds an output over the loop's parallel axes. `combine` is ignored where no axis is reduced.
void add_output(RowLoop& rows, DType dtype, DimList shape, Expr value, Combine combine = Combine::none);
/// Adds an output with one element a row, whose shape is reduced_shape().
void add_row_output(RowLoop& rows, DType dtype, const DimList& shape, std::span<const int> row, bool keepdims, Expr value,
                    Combine combine = Combine::none);
/// The number of elements of a row, as `dtype`.
Expr row_count(const DimList& shape, std::span<const int> row, DType dtype);
/// The axes first, first + 1, ..., rank - 1.
std::vector<int> axes_from(int first, int rank);

/// Row-major positions for reference functions: an element is at bases[row] + inner[element of the row].
struct RowOffsets {
  std::vector<int64_t> bases, inner;
};
/// Rows and elements of a row in row-major order.
RowOffsets row_offsets(const Sizes& shape, std::span<const int> row);

}  // namespace tenon::ops
