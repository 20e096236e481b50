// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "ops/core/op.h"

namespace tenon::ops {

/// Ends a contraction: adds its output (the sum of `product` over the reduced axes, in the compute dtype) and, where `after`
/// is given or the dtype is narrow, a map loop that applies it and casts. `shape`: of the result, one parallel axis each.
/// after(sum, loop): may load more operands into the map loop; its axes are those of `shape`.
using AfterSum = std::function<Expr(Expr sum, Loop& loop)>;
/// index: where the sum is written, where that is not simply the parallel axes.
LoopForm end_contraction(Loop loop, Expr product, DType dtype, const DimList& shape, const AfterSum& after = {},
                         std::vector<Expr> index = {});

/// C[m,n] += A[m,k] * B[k,n], all row-major and dense; k is the middle loop so that rows of B and C are streamed.
void multiply_add(const double* a, const double* b, double* c, int64_t m, int64_t n, int64_t k);
/// The same with wrapping integers.
void multiply_add(const int64_t* a, const int64_t* b, int64_t* c, int64_t m, int64_t n, int64_t k);
/// Rows and columns exchanged.
template <class T>
std::vector<T> transposed(const std::vector<T>& from, int64_t rows, int64_t columns) {
  std::vector<T> to(from.size());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) to[j * rows + i] = from[i * columns + j];
  return to;
}

/// numpy's matmul on types: rank-1 operands lose their axis again. Errors: rank_mismatch, shape_mismatch.
/// `a`, `b`: operand numbers. Stores result 0 with `dtype`.
Result<void> infer_matmul(NodeView& view, size_t a, size_t b, DType dtype);
/// Loop with axes batch..., m, n, k; `index_a`, `index_b`: where both operands are read.
struct MatmulLoop {
  Loop loop;
  std::vector<Expr> index_a, index_b;
  DimList shape;       ///< of the result
  int m = -1, n = -1;  ///< axis numbers of m and n; -1 where the operand has rank 1
};
MatmulLoop matmul_loop(const NodeView& view, size_t a, size_t b);

/// Result shape and a visit of each matrix pair: visit(offset of A, of B, of C).
struct MatmulSizes {
  Sizes shape;
  int64_t m = 1, n = 1, k = 1;
  std::vector<int64_t> at_a, at_b;
};
Result<MatmulSizes> matmul_sizes(const NodeView& view, Sizes a, Sizes b);
/// Element i of the product: its index, and where its row of a (steps of 1) and its column of b (steps of n) begin.
struct ProductElement {
  Sizes at;
  int64_t row_a, column_b;
};
ProductElement element_of(const MatmulSizes& sizes, int64_t i);

}  // namespace tenon::ops
