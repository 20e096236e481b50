// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/infer/require.h"

namespace tenon::ops::op_det {

namespace {

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  TRY(require_rank(view, 0, 2, -1));
  Type out = view.type(0);
  if (out.has_rank()) {
    TRY(require_equal(view, out.dim(-1), out.dim(-2), "rows and columns"));
    out.shape->resize(out.shape->size() - 2);
  }
  set_output(view, 0, std::move(out));
  return {};
}

/// Gaussian elimination with row pivots; `a` is overwritten.
double determinant(double* a, int64_t n) {
  double det = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i)
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
    if (a[pivot * n + k] == 0) return 0;
    if (pivot != k) {
      det = -det;
      for (int64_t j = 0; j < n; ++j) std::swap(a[k * n + j], a[pivot * n + j]);
    }
    det *= a[k * n + k];
    for (int64_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / a[k * n + k];
      for (int64_t j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return det;
}

Result<void> evaluate(Call& call) {
  const Tensor& t = *call.in[0];
  std::vector<double> x = numbers_of(t);
  const int64_t n = t.shape().back();
  if (t.shape()[t.rank() - 2] != n) return refuse(call.view, Code::shape_mismatch, "the matrices are not square");
  Tensor& y = *TRY(call.make(0, Sizes(t.shape().begin(), t.shape().end() - 2)));
  for (int64_t i = 0; i < y.count(); ++i) y.set_number(i, determinant(x.data() + i * n * n, n));
  return {};
}

}  // namespace

OP(det) {
    .name = "Det",
    .since_version = 22,
    .inputs = {{"X"}},
    .outputs = {{"Y"}},
    .infer = infer,
    .reference = evaluate,
    .lowest_opset = [](const NodeView& view) { return view.type(0).dtype == DType::bf16 ? 22 : 11; },
    .first_opset = 11,
    .samples = {{"f32[2,2]", "f32[3,4,4]", "f64[2,1,3,3]", "f32[1,1]", "f32[2,2] = [0, 1, 1, 0]"}},
};

}  // namespace tenon::ops::op_det
