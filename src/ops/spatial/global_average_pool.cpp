// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/reduce/reduction.h"
#include "ops/spatial/convolution.h"

namespace tenon::ops::op_global_average_pool {

namespace {

Result<LoopForm> form(const NodeView& view) {
  TRY(require_ranks(view));
  const DimList& shape = *view.type(0).shape;
  const std::vector<int> row = axes_from(2, view.rank(0));
  const DType dtype = view.type(0).dtype, wide = compute_dtype(dtype);
  RowLoop sum = reduce_rows(shape, row);
  emit(sum, wide, without(shape, row), sum.operand(view, 0), Combine::sum);
  RowLoop mean = each_row(shape, row);
  const Expr value = mean.of_row(0, wide) / row_count(shape, row, wide);
  emit_kept(mean, dtype, shape, row, true, value);
  return chain({std::move(sum.loop), std::move(mean.loop)});
}

Result<void> evaluate(Call& call) {
  const Tensor& t = *call.in[0];
  const std::vector<double> x = numbers_of(t);
  const RowOffsets rows = row_offsets(t.shape(), axes_from(2, t.rank()));
  Sizes shape(t.rank(), 1);
  std::copy_n(t.shape().begin(), 2, shape.begin());
  Tensor& y = *TRY(call.make(0, shape));
  for (size_t b = 0; b < rows.bases.size(); ++b) {
    double sum = 0;
    for (int64_t at : rows.inner) sum += x[rows.bases[b] + at];
    y.set_number(static_cast<int64_t>(b), sum / static_cast<double>(rows.inner.size()));
  }
  return {};
}

}  // namespace

OP(global_average_pool) {
    .name = "GlobalAveragePool",
    .since = 22,
    .inputs = {"X"},
    .outputs = {"Y"},
    .infer = infer_global_pool,
    .form = form,
    .reference = evaluate,
    .lowest_opset = [](const NodeView& view) { return view.type(0).dtype == DType::bf16 ? 22 : 7; },
    .samples = {"f32[1,3,5,5]", "f32[2,3,7]", "f16[1,2,4,4]", "f64[2,1,2,3,2]", "f32[2,3,1,1]"},
};

}  // namespace tenon::ops::op_global_average_pool
