// SPDX-License-Identifier: Apache-2.0
#include "ops/spatial/global_pool.h"

#include <algorithm>

#include "ops/infer/require.h"

namespace tenon::ops {

Result<void> infer_global_pool(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  TRY(require_rank(view, 0, 2, -1));
  Type out = view.type(0);
  if (out.has_rank()) std::fill(out.shape->begin() + 2, out.shape->end(), Dim(1));
  set_output(view, 0, std::move(out));
  return {};
}

Result<LoopForm> form_of_global_pool(const NodeView& view, Combine combine, const std::function<Expr(Expr)>& before,
                                     const std::function<Expr(Expr total, Expr count)>& after) {
  TRY(require_known_ranks(view));
  const DimList& shape = *view.type(0).shape;
  const std::vector<int> row = axes_from(2, view.rank(0));
  const DType dtype = view.type(0).dtype, wide = compute_dtype(dtype);
  RowLoop all = reduce_rows(shape, row);
  const Expr x = all.load_operand(view, 0);
  add_output(all, wide, without_axes(shape, row), before ? before(x) : x, combine);
  RowLoop last = each_row(shape, row);
  add_row_output(last, dtype, shape, row, true, after(last.load_of_row(0, wide), row_count(shape, row, wide)));
  return loop_sequence_form({std::move(all.loop), std::move(last.loop)});
}

Result<void> reference_of_global_pool(Call& call, const std::function<double(std::span<const double>)>& number) {
  const Tensor& t = *call.in[0];
  const std::vector<double> x = numbers_of(t);
  const RowOffsets rows = row_offsets(t.shape(), axes_from(2, t.rank()));
  Sizes shape(t.rank(), 1);
  std::copy_n(t.shape().begin(), 2, shape.begin());
  Tensor& y = *TRY(call.make(0, shape));
  std::vector<double> plane(rows.inner.size());
  for (size_t b = 0; b < rows.bases.size(); ++b) {
    std::ranges::transform(rows.inner, plane.begin(), [&](int64_t at) { return x[rows.bases[b] + at]; });
    y.set_number(static_cast<int64_t>(b), number(plane));
  }
  return {};
}

}  // namespace tenon::ops
