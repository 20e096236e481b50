// SPDX-License-Identifier: Apache-2.0
#include "ops/contract/product.h"

#include <algorithm>

#include "ops/form/loops.h"
#include "ops/infer/broadcast.h"
#include "ops/reference/indices.h"
#include "ops/reference/integers.h"

namespace tenon::ops {

LoopForm contraction_form(Loop loop, Expr product, DType dtype, const DimList& shape, const ContractionEpilogue& epilogue,
                          std::vector<Expr> index) {
  const DType wide = compute_dtype(product.dtype());
  const bool reduces = std::any_of(loop.axes.begin(), loop.axes.end(), [](const Axis& a) { return a.kind == Axis::Kind::reduced; });
  Output sum;
  sum.dtype = wide;
  sum.shape = shape;
  sum.value = cast(std::move(product), wide);
  sum.combine = reduces ? Combine::sum : Combine::none;
  sum.index = std::move(index);
  loop.outputs.push_back(std::move(sum));
  if (wide == dtype && !epilogue) return single_loop_form(std::move(loop));
  Loop map;
  map.axes = parallel_axes(shape);
  Expr value = load(map, loop_output_access(0, 0, wide, axis_indices(static_cast<int>(shape.size()))));
  if (epilogue) value = epilogue(value, map);
  map.outputs.push_back(full_output(dtype, shape, value));
  return loop_sequence_form({std::move(loop), std::move(map)});
}

void multiply_add(const double* a, const double* b, double* c, int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kBlock = 64;  // rows of B that stay in the second-level cache while all rows of A pass
  for (int64_t first = 0; first < k; first += kBlock) {
    const int64_t end = std::min(k, first + kBlock);
    for (int64_t i = 0; i < m; ++i) {
      double* __restrict row = c + i * n;
      for (int64_t p = first; p < end; ++p) {
        const double factor = a[i * k + p];
        const double* __restrict other = b + p * n;
        for (int64_t j = 0; j < n; ++j) row[j] += factor * other[j];
      }
    }
  }
}

void multiply_add(const int64_t* a, const int64_t* b, int64_t* c, int64_t m, int64_t n, int64_t k) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t p = 0; p < k; ++p)
      for (int64_t j = 0; j < n; ++j) c[i * n + j] = wrap_add(c[i * n + j], wrap_mul(a[i * k + p], b[p * n + j]));
}

Result<void> infer_matmul(NodeView& view, size_t a, size_t b, DType dtype) {
  Type out(dtype);
  if (ranks_known(view, {a, b})) {
    const DimList &x = *view.type(a).shape, &y = *view.type(b).shape;
    if (x.empty() || y.empty()) return refuse(view, Code::rank_mismatch, "a scalar operand").expected("rank 1 or more").advice("use Mul");
    TRY(require_equal(view, x.back(), y.size() == 1 ? y[0] : y[y.size() - 2], "inner sizes (last of A, last but one of B)"));
    const DimList batch_x(x.begin(), x.end() - std::min<size_t>(2, x.size())), batch_y(y.begin(), y.end() - std::min<size_t>(2, y.size()));
    out.shape = TRY(broadcast(view, batch_x, batch_y));
    if (x.size() > 1) out.shape->push_back(x[x.size() - 2]);
    if (y.size() > 1) out.shape->push_back(y.back());
  }
  set_output(view, 0, std::move(out));
  return {};
}

MatmulLoop matmul_loop(const NodeView& view, size_t a, size_t b) {
  const DimList &x = *view.type(a).shape, &y = *view.type(b).shape;
  MatmulLoop r;
  r.shape = *view.outputs[0].shape;
  const bool has_m = x.size() > 1, has_n = y.size() > 1;
  const DimList batch(r.shape.begin(), r.shape.end() - has_m - has_n);
  r.loop.axes = parallel_axes(r.shape);
  const int first = static_cast<int>(batch.size()), k = static_cast<int>(r.shape.size());
  if (has_m) r.m = first;
  if (has_n) r.n = first + has_m;
  r.loop.axes.push_back({Axis::Kind::reduced, x.back()});
  r.index_a = broadcast_index(DimList(x.begin(), x.end() - std::min<size_t>(2, x.size())), batch);
  r.index_b = broadcast_index(DimList(y.begin(), y.end() - std::min<size_t>(2, y.size())), batch);
  if (has_m) r.index_a.push_back(Expr::axis(r.m));
  r.index_a.push_back(Expr::axis(k));
  r.index_b.push_back(Expr::axis(k));
  if (has_n) r.index_b.push_back(Expr::axis(r.n));
  return r;
}

Result<MatmulSizes> matmul_sizes(const NodeView& view, Sizes a, Sizes b) {
  if (a.empty() || b.empty()) return refuse(view, Code::rank_mismatch, "a scalar operand");
  const bool has_m = a.size() > 1, has_n = b.size() > 1;
  MatmulSizes r;
  if (has_m) r.m = a[a.size() - 2];
  r.k = a.back();
  if (has_n) r.n = b.back();
  if (b[has_n ? b.size() - 2 : 0] != r.k) {
    return refuse(view, Code::shape_mismatch, "inner sizes differ")
        .expected(std::to_string(r.k))
        .found(std::to_string(b[has_n ? b.size() - 2 : 0]));
  }
  a.resize(a.size() - 1 - has_m);
  b.resize(b.size() - 1 - has_n);
  r.shape = TRY(broadcast_sizes(view, a, b));
  const Sizes step_a = broadcast_strides(a, r.shape), step_b = broadcast_strides(b, r.shape);
  const int64_t matrices = count_of(r.shape);
  for (int64_t i = 0; i < matrices; ++i) {
    const Sizes at = index_of(i, r.shape);
    r.at_a.push_back(offset_of(at, step_a) * r.m * r.k);
    r.at_b.push_back(offset_of(at, step_b) * r.k * r.n);
  }
  if (has_m) r.shape.push_back(r.m);
  if (has_n) r.shape.push_back(r.n);
  return r;
}

ProductElement element_of(const MatmulSizes& sizes, int64_t i) {
  const int64_t plane = sizes.m * sizes.n, matrix = i / plane;
  return {index_of(i, sizes.shape), sizes.at_a[matrix] + i % plane / sizes.n * sizes.k, sizes.at_b[matrix] + i % sizes.n};
}

}  // namespace tenon::ops
