// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/reduce/reduction.h"
#include "ops/spatial/convolution.h"
#include "ops/versions/versions.h"

namespace tenon::ops::op_global_lp_pool {

namespace {

Result<LoopForm> form(const NodeView& view) {
  TRY(require_ranks(view));
  const DimList& shape = *view.type(0).shape;
  const std::vector<int> row = axes_from(2, view.rank(0));
  const DType dtype = view.type(0).dtype, wide = compute_dtype(dtype);
  const double p = static_cast<double>(view.attributes->integer("p", 2));
  RowLoop sum = reduce_rows(shape, row);
  const Expr x = abs(sum.operand(view, 0));
  emit(sum, wide, without(shape, row), p == 1 ? x : p == 2 ? x * x : binary(ExprOp::pow, x, Expr::constant(wide, p)), Combine::sum);
  RowLoop root = each_row(shape, row);
  const Expr total = root.of_row(0, wide);
  emit_kept(root, dtype, shape, row, true, p == 1 ? total : p == 2 ? sqrt(total) : binary(ExprOp::pow, total, Expr::constant(wide, 1 / p)));
  return chain({std::move(sum.loop), std::move(root.loop)});
}

Result<void> evaluate(Call& call) {
  const Tensor& t = *call.in[0];
  const std::vector<double> x = numbers_of(t);
  const RowOffsets rows = row_offsets(t.shape(), axes_from(2, t.rank()));
  Sizes shape(t.rank(), 1);
  std::copy_n(t.shape().begin(), 2, shape.begin());
  Tensor& y = *TRY(call.make(0, shape));
  const double p = static_cast<double>(call.view.attributes->integer("p", 2));
  for (size_t b = 0; b < rows.bases.size(); ++b) {
    double sum = 0;
    for (int64_t at : rows.inner) sum += std::pow(std::abs(x[rows.bases[b] + at]), p);
    y.set_number(static_cast<int64_t>(b), std::pow(sum, 1 / p));
  }
  return {};
}

}  // namespace

OP(global_lp_pool) {
    .name = "GlobalLpPool",
    .since = 22,
    .inputs = {"X"},
    .outputs = {"Y"},
    .attributes = {"p: int = 2"},
    .infer = infer_global_pool,
    .form = form,
    .reference = evaluate,
    .upgrade = whole_p_upgrade,
    .lowest_opset = [](const NodeView& view) { return view.type(0).dtype == DType::bf16 ? 22 : 7; },
    .samples = {"f32[1,3,5,5]", "f32[2,3,7]", "f16[1,2,4,4]", "f64[2,1,2,3,2]", "f32[2,3,1,1]", "f32[1,2,3,3]; p=1", "f32[1,2,3,3]; p=3"},
};

}  // namespace tenon::ops::op_global_lp_pool
