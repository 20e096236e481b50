// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/infer/require.h"

namespace tenon::ops::op_inverse {

namespace {

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  TRY(require_rank(view, 0, 2, -1));
  if (view.type(0).has_rank()) TRY(require_equal(view, view.type(0).dim(-1), view.type(0).dim(-2), "rows and columns"));
  set_output(view, 0, view.type(0));
  return {};
}

/// Gauss-Jordan elimination with row pivots. a: n rows of 2 n, the matrix and the unit matrix next to it; the inverse takes the place of
/// the latter, NaN where the matrix is singular.
void invert(double* a, int64_t n) {
  const auto row = [&](int64_t k) { return a + k * 2 * n; };
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i)
      if (std::abs(row(i)[k]) > std::abs(row(pivot)[k])) pivot = i;
    if (pivot != k) std::swap_ranges(row(k), row(k) + 2 * n, row(pivot));
    const double head = row(k)[k];
    for (int64_t j = 0; j < 2 * n; ++j) row(k)[j] /= head;
    for (int64_t i = 0; i < n; ++i) {
      const double factor = i == k ? 0 : row(i)[k];
      for (int64_t j = 0; j < 2 * n && factor != 0; ++j) row(i)[j] -= factor * row(k)[j];
    }
  }
}

Result<void> evaluate(Call& call) {
  const Tensor& t = *call.in[0];
  const std::vector<double> x = numbers_of(t);
  const int64_t n = t.shape().back();
  if (t.shape()[t.rank() - 2] != n) return refuse(call.view, Code::shape_mismatch, "the matrices are not square");
  Tensor& y = *TRY(call.make(0, t.shape()));
  std::vector<double> a(static_cast<size_t>(2 * n * n));
  for (int64_t first = 0; first < y.count(); first += n * n) {
    for (int64_t i = 0; i < n * n; ++i) {
      a[i / n * 2 * n + i % n] = x[first + i];
      a[i / n * 2 * n + n + i % n] = i / n == i % n;
    }
    invert(a.data(), n);
    for (int64_t i = 0; i < n * n; ++i) y.set_number(first + i, a[i / n * 2 * n + n + i % n]);
  }
  return {};
}

}  // namespace

/// The inverse of each of the square matrices in the last two axes.
OP(inverse) {
    .name = "Inverse",
    .domain = "com.microsoft",
    .inputs = {{"X"}},
    .outputs = {{"Y"}},
    .infer = infer,
    .reference = evaluate,
    .samples = {{"f32[2,2] = [2, 1, 1, 3]", "f32[3,3] = [0, 1, 2, 1, 0, 3, 4, -3, 8]", "f64[2,2,2] = [1, 2, 3, 4, 2, 0, 0, 5]",
                 "f32[1,1] = [4]", "f16[2,2] = [2, 1, 1, 3]", "f32[0,2,2]"}},
};

}  // namespace tenon::ops::op_inverse
