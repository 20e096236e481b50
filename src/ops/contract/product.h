// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "ops/core/op.h"

namespace tenon::ops {

/// What is computed from each sum of a contraction; `loop` is a map over the result's shape, into which it may load more operands.
using ContractionEpilogue = std::function<Expr(Expr sum, Loop& loop)>;
/// The loop form of a contraction: adds to `loop` its output, the sum of `product` over the reduced axes in the compute dtype, and, where
/// there is an epilogue or `dtype` is narrower, a map loop that applies the epilogue and casts. `shape`: of the result, one parallel axis
/// each. index: where the sum is written; empty: at the parallel axes.
LoopForm contraction_form(Loop loop, Expr product, DType dtype, const DimList& shape, const ContractionEpilogue& epilogue = {},
                          std::vector<Expr> index = {});

/// C[m,n] += A[m,k] * B[k,n], all row-major and dense; k is the middle loop so that rows of B and C are streamed.
void multiply_add(const double* a, const double* b, double* c, int64_t m, int64_t n, int64_t k);
/// The same with integers that wrap around.
void multiply_add(const int64_t* a, const int64_t* b, int64_t* c, int64_t m, int64_t n, int64_t k);
/// The transpose of a matrix.
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
/// The loop of a matrix product, with axes batch..., m, n, k; `index_a`, `index_b`: the indices at which it reads the operands.
struct MatmulLoop {
  Loop loop;
  std::vector<Expr> index_a, index_b;
  DimList shape;       ///< of the result
  int m = -1, n = -1;  ///< axis numbers of m and n; -1 where the operand has rank 1
};
MatmulLoop matmul_loop(const NodeView& view, size_t a, size_t b);

/// The sizes of a batched matrix product, for references; at_a, at_b: the offsets of A and B of each pair of matrices.
struct MatmulSizes {
  Sizes shape;
  int64_t m = 1, n = 1, k = 1;
  std::vector<int64_t> at_a, at_b;
};
Result<MatmulSizes> matmul_sizes(const NodeView& view, Sizes a, Sizes b);
/// Element i of the product: its index, and the offsets of its row of a (stride 1) and its column of b (stride n).
struct ProductElement {
  Sizes at;
  int64_t row_a, column_b;
};
ProductElement element_of(const MatmulSizes& sizes, int64_t i);

}  // namespace tenon::ops
