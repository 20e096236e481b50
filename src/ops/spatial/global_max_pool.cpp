// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/scalar.h"
#include "ops/reduce/reduction.h"
#include "ops/spatial/convolution.h"

namespace tenon::ops::op_global_max_pool {

namespace {

Result<LoopForm> form(const NodeView& view) {
  TRY(require_ranks(view));
  const DimList& shape = *view.type(0).shape;
  const std::vector<int> row = axes_from(2, view.rank(0));
  const DType dtype = view.type(0).dtype, wide = compute_dtype(dtype);
  RowLoop top = reduce_rows(shape, row);
  emit(top, wide, without(shape, row), top.operand(view, 0), Combine::max);
  RowLoop last = each_row(shape, row);
  const Expr value = last.of_row(0, wide);
  emit_kept(last, dtype, shape, row, true, value);
  return chain({std::move(top.loop), std::move(last.loop)});
}

Result<void> evaluate(Call& call) {
  const Tensor& t = *call.in[0];
  const std::vector<double> x = numbers_of(t);
  const RowOffsets rows = row_offsets(t.shape(), axes_from(2, t.rank()));
  Sizes shape(t.rank(), 1);
  std::copy_n(t.shape().begin(), 2, shape.begin());
  Tensor& y = *TRY(call.make(0, shape));
  for (size_t b = 0; b < rows.bases.size(); ++b) {
    double top = -INFINITY;
    for (int64_t at : rows.inner) top = maximum(top, x[rows.bases[b] + at]);
    y.set_number(static_cast<int64_t>(b), top);
  }
  return {};
}

}  // namespace

OP(global_max_pool) {
    .name = "GlobalMaxPool",
    .since = 22,
    .inputs = {"X"},
    .outputs = {"Y"},
    .infer = infer_global_pool,
    .form = form,
    .reference = evaluate,
    .lowest_opset = [](const NodeView& view) { return view.type(0).dtype == DType::bf16 ? 22 : 7; },
    .samples = {"f32[1,3,5,5]", "f32[2,3,7]", "f16[1,2,4,4]", "f64[2,1,2,3,2]", "f32[2,3,1,1]"},
};

}  // namespace tenon::ops::op_global_max_pool
