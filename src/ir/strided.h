// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/constant.h"

namespace tenon::ir {

/// A view of elements of whole bytes with any strides, to read slices and permutes without copies.
struct Strided {
  DType dtype;
  Sizes shape;
  Sizes strides;  ///< in elements; may be negative
  const std::byte* data;
  Tensor keeper;  ///< owns the bytes

  /// Bytes of an element.
  int64_t width() const { return bits_of(dtype) / 8; }
  int64_t count() const;
  bool is_contiguous() const;
};

/// The constant as a view. Slices, permutes and (of dense views) reshapes are not copied; other expressions are materialised. Only for
/// dtypes of whole bytes. Errors: out_of_memory.
Result<Strided> strided_view(const Constant& constant);
/// Writes the elements row-major. Cost: one pass; transposes go in tiles of 32 x 32.
void copy_dense(const Strided& from, std::byte* to);
/// Calls visit(from, inner stride, count) for each innermost row, in row-major order.
template <class F>
void each_row(const Strided& from, F visit);

/// Writes the Constant::Pack of a view [..., K, N].
void copy_packed(const Strided& from, int64_t panel, int64_t group, std::byte* to);

template <class F>
void each_row(const Strided& from, F visit) {
  if (from.count() == 0) return;
  size_t rank = from.shape.size();
  if (rank == 0) return visit(from.data, int64_t{1}, int64_t{1});
  Sizes at(rank, 0);
  int64_t offset = 0;
  while (true) {
    visit(from.data + offset * from.width(), from.strides[rank - 1], from.shape[rank - 1]);
    size_t axis = rank - 1;
    while (axis > 0) {
      --axis;
      offset += from.strides[axis];
      if (++at[axis] < from.shape[axis]) break;
      offset -= from.strides[axis] * from.shape[axis];
      at[axis] = 0;
      if (axis == 0) return;
    }
    if (rank == 1) return;
  }
}

}  // namespace tenon::ir
