// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/infer/require.h"
#include "ops/norm/statistics.h"
#include "ops/spatial/convolution.h"

namespace tenon::ops::op_instance_normalization {

namespace {

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  TRY(require_rank(view, 0, 3, -1));
  if (view.type(0).has_rank())
    for (size_t k : {1, 2}) TRY(require_vector(view, k, view.type(0).dim(1), "number of channels and length of scale or B"));
  set_output(view, 0, view.type(0));
  return {};
}

Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  const DimList& shape = *view.type(0).shape;
  const std::vector<int> row = axes_from(2, view.rank(0));
  const DType dtype = view.type(0).dtype, wide = compute_dtype(dtype);
  std::vector<Loop> loops;
  auto element = [&](RowLoop& rows) { return rows.load_operand(view, 0); };
  const RowStatistics s = add_statistics(loops, shape, row, wide, element, view.attributes->number("epsilon", 1e-5f));
  RowLoop last = map_rows(shape, row);
  const Expr normalised = (element(last) - last.load_of_row(s.mean, wide)) * last.load_of_row(s.inv_std_dev, wide);
  auto parameter = [&](size_t k) { return to_compute_dtype(load(last.loop, operand_access(view, k, {Expr::axis(1)}))); };
  const Expr scale = parameter(1), bias = parameter(2);
  add_output(last, dtype, shape, normalised * scale + bias);
  loops.push_back(std::move(last.loop));
  return loop_sequence_form(std::move(loops));
}

Result<void> evaluate(Call& call) {
  const Tensor& t = *call.in[0];
  std::vector<double> x = numbers_of(t);
  const RowOffsets rows = row_offsets(t.shape(), axes_from(2, t.rank()));
  const RowMoments m = moments_of(x, rows);
  const double epsilon = call.view.attributes->number("epsilon", 1e-5f);
  for (size_t b = 0; b < rows.bases.size(); ++b) {
    const int64_t c = static_cast<int64_t>(b) % t.shape()[1];
    for (int64_t offset : rows.inner) {
      double& v = x[rows.bases[b] + offset];
      v = call.in[1]->number(c) * (v - m.mean[b]) / std::sqrt(m.variance[b] + epsilon) + call.in[2]->number(c);
    }
  }
  store_numbers(*TRY(call.make(0, t.shape())), x);
  return {};
}

}  // namespace

OP(instance_normalization) {
    .name = "InstanceNormalization",
    .since_version = 22,
    .inputs = {{"input", "scale", "B"}},
    .attributes = {{"epsilon: float = 1e-05"}},
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .lowest_opset = [](const NodeView& view) { return view.type(0).dtype == DType::bf16 ? 22 : 7; },
    .samples = {{"f32[2,3,4,5], f32[3], f32[3]", "f32[1,2,7], f32[2], f32[2]; epsilon=0.1", "f16[2,3,4,4], f16[3], f16[3]",
                 "f64[1,2,2,3,2], f64[2], f64[2]"}},
};

}  // namespace tenon::ops::op_instance_normalization
