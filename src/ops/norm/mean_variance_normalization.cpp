// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/infer/axes.h"
#include "ops/infer/require.h"
#include "ops/norm/statistics.h"

namespace tenon::ops::op_mean_variance_normalization {

namespace {

/// Added to the standard deviation, as in the ONNX function of the op.
constexpr double kEpsilon = 1e-9;

Result<std::vector<int>> reduced_axes(const NodeView& view, int rank) {
  return normalise_axes(view, view.attributes->ints("axes", {0, 2, 3}), rank);
}

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  if (view.type(0).has_rank()) TRY(reduced_axes(view, view.rank(0)));
  set_output(view, 0, view.type(0));
  return {};
}

Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  const DimList& shape = *view.type(0).shape;
  const std::vector<int> row = TRY(reduced_axes(view, view.rank(0)));
  const DType dtype = view.type(0).dtype, wide = compute_dtype(dtype);
  std::vector<Loop> loops;
  auto element = [&](RowLoop& rows) { return rows.load_operand(view, 0); };
  const RowStatistics s = add_statistics(loops, shape, row, wide, element, kEpsilon, true);
  RowLoop last = map_rows(shape, row);
  const Expr normalised = (element(last) - last.load_of_row(s.mean, wide)) * last.load_of_row(s.inv_std_dev, wide);
  add_output(last, dtype, shape, normalised);
  loops.push_back(std::move(last.loop));
  return loop_sequence_form(std::move(loops));
}

Result<void> evaluate(Call& call) {
  const Tensor& t = *call.in[0];
  std::vector<double> x = numbers_of(t);
  const RowOffsets rows = row_offsets(t.shape(), TRY(reduced_axes(call.view, t.rank())));
  const RowMoments m = moments_of(x, rows);
  for (size_t b = 0; b < rows.bases.size(); ++b)
    for (int64_t at : rows.inner) x[rows.bases[b] + at] = (x[rows.bases[b] + at] - m.mean[b]) / (std::sqrt(m.variance[b]) + kEpsilon);
  store_numbers(*TRY(call.make(0, t.shape())), x);
  return {};
}

}  // namespace

OP(mean_variance_normalization) {
    .name = "MeanVarianceNormalization",
    .since_version = 13,
    .inputs = {{"X"}},
    .outputs = {{"Y"}},
    .attributes = {{"axes: ints = [0, 2, 3]"}},
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .first_opset = 9,
    .samples = {{"f32[2,3,4,5]", "f32[3,7]; axes=[1]", "f16[2,3,4,4]; axes=[2,3]", "f64[2,3,2,2]"}},
};

}  // namespace tenon::ops::op_mean_variance_normalization
