// SPDX-License-Identifier: Apache-2.0
#include "ops/norm/softmax_rows.h"

#include <cmath>

#include "ops/infer/axes.h"
#include "ops/infer/require.h"

namespace tenon::ops {

Result<void> infer_softmax(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  TRY(require_rank(view, 0, 1, -1));
  TRY(axis_attribute(view));
  set_output(view, 0, view.type(0));
  return {};
}

Result<LoopForm> softmax_form(const NodeView& view, Expr (*finish)(Expr shifted, Expr sum)) {
  TRY(require_known_ranks(view));
  const std::vector<int> row{TRY(axis_attribute(view))};
  const DimList& shape = *view.type(0).shape;
  const DimList kept = without_axes(shape, row);
  const DType dtype = view.type(0).dtype, wide = compute_dtype(dtype);
  RowLoop top = reduce_rows(shape, row);
  add_output(top, wide, kept, top.load_operand(view, 0), Combine::max);
  auto shifted = [&](RowLoop& at) {
    const Expr x = at.load_operand(view, 0);
    return x - at.load_of_row(0, wide);
  };
  RowLoop sum = reduce_rows(shape, row);
  add_output(sum, wide, kept, exp(shifted(sum)), Combine::sum);
  RowLoop last = map_rows(shape, row);
  const Expr x = shifted(last);
  add_output(last, dtype, shape, finish(x, last.load_of_row(1, wide)));
  return loop_sequence_form({std::move(top.loop), std::move(sum.loop), std::move(last.loop)});
}

Result<void> each_row_in_place(Call& call, const std::function<void(std::span<double>)>& row) {
  const Tensor& t = *call.in[0];
  const int axis = TRY(normalise_axis(call.view, call.view.attributes->integer("axis", -1), t.rank()));
  std::vector<double> x = numbers_of(t), buffer(t.shape()[axis]);
  const RowOffsets rows = row_offsets(t.shape(), std::vector<int>{axis});
  for (int64_t base : rows.bases) {
    for (size_t k = 0; k < buffer.size(); ++k) buffer[k] = x[base + rows.inner[k]];
    if (!buffer.empty()) row(buffer);
    for (size_t k = 0; k < buffer.size(); ++k) x[base + rows.inner[k]] = buffer[k];
  }
  store_numbers(*TRY(call.make(0, t.shape())), x);
  return {};
}

Result<void> softmax_reference(Call& call, double (*finish)(double shifted, double sum)) {
  return each_row_in_place(call, [finish](std::span<double> x) {
    double top = -INFINITY, sum = 0;
    for (double v : x) top = v != v ? v : std::fmax(top, v);
    for (double v : x) sum += std::exp(v - top);
    for (double& v : x) v = finish(v - top, sum);
  });
}

}  // namespace tenon::ops
