// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/tensor.h"

namespace tenon::runtime {

/// Whether rows of so many elements take whole bytes; rows of 4- and 2-bit types may not.
inline bool has_whole_bytes(DType dtype, int64_t elements) { return elements * bits_of(dtype) % 8 == 0; }

/// Copies `row` to elements [begin, begin + row.count()) of the packed array at `to`; clears the rest of the last byte. Elements before
/// `begin` are kept: rows are written in ascending order.
void copy_row(const Tensor& row, std::byte* to, int64_t begin);

/// Rows of one dtype and shape, any dtype but sequences, one after the other; grows.
class RowStack {
 public:
  void clear();
  /// Errors: out_of_memory, size_overflow.
  Result<void> push(const Tensor& row);
  const Sizes& row_shape() const { return row_shape_; }
  /// All rows, as a tensor of its own. shape: of as many elements as there are.
  Result<Tensor> stacked(DType dtype, Sizes shape) const;

 private:
  Tensor bytes_;
  std::vector<std::string> strings_;
  int64_t elements_ = 0;
  Sizes row_shape_;
};

}  // namespace tenon::runtime
