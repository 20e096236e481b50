// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/infer/axes.h"
#include "ops/infer/require.h"
#include "ops/reduce/reduction.h"

namespace tenon::ops::op_lp_normalization {

namespace {

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  TRY(require_rank(view, 0, 1, -1));
  TRY(axis_attribute(view));
  const int64_t p = view.attributes->integer("p", 2);
  if (p != 1 && p != 2) return refuse(view, Code::bad_attribute, "p has an unknown value").expected("1 or 2").found(std::to_string(p));
  set_output(view, 0, view.type(0));
  return {};
}

/// The loop form. A row of zeros stays zero.
Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  const DimList& shape = *view.type(0).shape;
  const std::vector<int> row{TRY(axis_attribute(view))};
  const DType dtype = view.type(0).dtype, wide = compute_dtype(dtype);
  const bool squares = view.attributes->integer("p", 2) == 2;
  RowLoop sum = reduce_rows(shape, row);
  const Expr v = sum.load_operand(view, 0);
  add_output(sum, wide, without_axes(shape, row), squares ? v * v : abs(v), Combine::sum);
  RowLoop last = map_rows(shape, row);
  const Expr x = last.load_operand(view, 0), total = last.load_of_row(0, wide), norm = squares ? sqrt(total) : total;
  add_output(last, dtype, shape, select(equal(norm, Expr::constant(wide, 0)), Expr::constant(wide, 0), x / norm));
  return loop_sequence_form({std::move(sum.loop), std::move(last.loop)});
}

Result<void> evaluate(Call& call) {
  const Tensor& t = *call.in[0];
  const int axis = TRY(normalise_axis(call.view, call.view.attributes->integer("axis", -1), t.rank()));
  const bool squares = call.view.attributes->integer("p", 2) == 2;
  std::vector<double> x = numbers_of(t);
  const RowOffsets rows = row_offsets(t.shape(), std::vector<int>{axis});
  for (int64_t base : rows.bases) {
    double norm = 0;
    for (int64_t at : rows.inner) norm += squares ? x[base + at] * x[base + at] : std::abs(x[base + at]);
    if (squares) norm = std::sqrt(norm);
    for (int64_t at : rows.inner) x[base + at] = norm == 0 ? 0 : x[base + at] / norm;
  }
  store_numbers(*TRY(call.make(0, t.shape())), x);
  return {};
}

}  // namespace

OP(lp_normalization) {
    .name = "LpNormalization",
    .since_version = 22,
    .inputs = {{"input"}},
    .attributes = {{"axis: int = -1", "p: int = 2"}},
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .lowest_opset = [](const NodeView& view) { return view.type(0).dtype == DType::bf16 ? 22 : 7; },
    .samples = {{"f32[2,3,4]", "f32[2,3,4]; axis=1, p=1", "f32[2,2] = [0, 0, 3, 4]", "f16[3,5]", "f64[7]; axis=0"}},
};

}  // namespace tenon::ops::op_lp_normalization
