// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/definition/precision.h"
#include "ops/infer/axes.h"
#include "ops/infer/require.h"
#include "ops/norm/statistics.h"

namespace tenon::ops::op_layer_normalization {

namespace {

DType stash_dtype(const NodeView& view) { return view.attributes->integer("stash_type", 1) == 16 ? DType::bf16 : DType::f32; }

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  TRY(require_same_dtype(view, 0, 1));
  if (view.has(2)) TRY(require_same_dtype(view, 0, 2));
  set_output(view, 0, view.type(0));
  if (const int64_t stash = view.attributes->integer("stash_type", 1); view.outputs.size() > 1 && stash != 1 && stash != 16)
    return refuse(view, Code::bad_attribute, "Mean and InvStdDev have the type stash_type")
        .expected("1 (f32) or 16 (bf16)")
        .found(std::to_string(stash));
  Type statistics(stash_dtype(view));
  if (view.type(0).has_rank()) {
    const DimList& shape = *view.type(0).shape;
    const int axis = TRY(axis_attribute(view));
    for (size_t k : {1, 2}) {
      if (!view.has(k) || !view.type(k).has_rank()) continue;
      TRY(require_broadcastable(view, *view.type(k).shape, shape, k == 1 ? "sizes of Scale and of X" : "sizes of B and of X"));
    }
    statistics.shape = reduced_shape(shape, axes_from(axis, view.rank(0)), true);
  }
  set_output(view, 1, statistics);
  set_output(view, 2, statistics);
  return {};
}

/// A loop that copies a statistic, output 0 of loop `from`, to the shape of the results Mean and InvStdDev.
Loop statistic_result(const NodeView& view, int from, DType wide, std::span<const int> row) {
  RowLoop copy = each_row(*view.type(0).shape, row);
  const Expr value = copy.load_of_row(from, wide);
  add_row_output(copy, stash_dtype(view), *view.type(0).shape, row, true, value);
  return std::move(copy.loop);
}

Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  const DimList& shape = *view.type(0).shape;
  const std::vector<int> row = axes_from(TRY(axis_attribute(view)), view.rank(0));
  const DType dtype = view.type(0).dtype, wide = statistics_dtype(dtype);
  LoopForm out;
  auto element = [&](RowLoop& rows) { return cast(rows.load_operand(view, 0), wide); };
  const RowStatistics s = add_statistics(out.loops, shape, row, wide, element, view.attributes->number("epsilon", 1e-5f));
  RowLoop last = map_rows(shape, row);
  Expr y = (element(last) - last.load_of_row(s.mean, wide)) * last.load_of_row(s.inv_std_dev, wide);
  auto parameter = [&](size_t k) {
    return cast(load(last.loop, operand_access(view, k, broadcast_index(*view.type(k).shape, shape))), wide);
  };
  y = y * parameter(1);
  if (view.has(2)) y = y + parameter(2);
  add_output(last, dtype, shape, y);
  out.loops.push_back(std::move(last.loop));
  out.results = {{Source::Kind::loop, static_cast<int>(out.loops.size()) - 1, 0}};
  for (size_t k = 1; k < view.outputs.size(); ++k) {
    out.loops.push_back(statistic_result(view, k == 1 ? s.mean : s.inv_std_dev, wide, row));
    out.results.push_back({Source::Kind::loop, static_cast<int>(out.loops.size()) - 1, 0});
  }
  return out;
}

Result<void> evaluate(Call& call) {
  const Tensor& t = *call.in[0];
  const int axis = TRY(normalise_axis(call.view, call.view.attributes->integer("axis", -1), t.rank()));
  const double epsilon = call.view.attributes->number("epsilon", 1e-5f);
  std::vector<double> x = numbers_of(t);
  const RowOffsets rows = row_offsets(t.shape(), axes_from(axis, t.rank()));
  const RowMoments m = moments_of(x, rows);
  for (size_t b = 0; b < rows.bases.size(); ++b)
    for (int64_t at : rows.inner) x[rows.bases[b] + at] = (x[rows.bases[b] + at] - m.mean[b]) / std::sqrt(m.variance[b] + epsilon);
  for (size_t k : {1, 2}) {
    if (!call.has(k)) continue;
    const std::vector<double> parameter = numbers_of(*call.in[k]);
    const Sizes step = broadcast_strides(call.in[k]->shape(), t.shape());
    for (int64_t i = 0; i < t.count(); ++i) {
      const double p = parameter[offset_of(index_of(i, t.shape()), step)];
      x[i] = k == 1 ? x[i] * p : x[i] + p;
    }
  }
  store_numbers(*TRY(call.make(0, t.shape())), x);
  Sizes shape = t.shape();
  for (int k = axis; k < t.rank(); ++k) shape[k] = 1;
  if (call.out.size() > 1) store_numbers(*TRY(call.make(1, shape)), m.mean);
  if (call.out.size() > 2) {
    std::vector<double> inverse;
    for (double v : m.variance) inverse.push_back(1 / std::sqrt(v + epsilon));
    store_numbers(*TRY(call.make(2, shape)), inverse);
  }
  return {};
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  const auto axes = normalised_axes(view);
  if (!axes) return {};
  const DType dtype = view.type(0).dtype, wide = definition_dtype(dtype), kept = stash_dtype(view);
  const NormalisedRows rows =
      define_normalised_rows(build, as_dtype(build, in[0], dtype, wide), wide, *axes, view.attributes->number("epsilon", 1e-5f));
  ir::ValueId y = build("Mul", {build("Mul", {rows.centred, rows.inv_std_dev}), as_dtype(build, in[1], dtype, wide)});
  if (view.has(2)) y = build("Add", {y, as_dtype(build, in[2], dtype, wide)});
  std::vector<ir::ValueId> out{as_dtype(build, y, wide, dtype)};
  if (view.outputs.size() > 1) out.push_back(as_dtype(build, rows.mean, wide, kept));
  if (view.outputs.size() > 2) out.push_back(as_dtype(build, rows.inv_std_dev, wide, kept));
  return out;
}

}  // namespace

OP(layer_normalization) {
    .name = "LayerNormalization",
    .since_version = 17,
    .inputs = {{"X", "Scale", "B?"}},
    .outputs = {{"Y", "Mean?", "InvStdDev?"}},
    .attributes = {{"axis: int = -1", "epsilon: float = 1e-05", "stash_type: int = 1"}},
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .definition = define,
    .first_opset = 17,
    .samples = {{"f32[2,3,8], f32[8], f32[8]", "f32[2,3,4], f32[3,4], f32[3,4]; axis=1, outputs=3", "f32[5,7], f32[7]; epsilon=0.1",
                 "f16[3,16], f16[16], f16[16]", "f64[2,5], f64[5], f64[1]", "f32[0,4], f32[4], f32[4]",
                 "f32[2,3], f32[2,3]; axis=0, outputs=2"}},
};

}  // namespace tenon::ops::op_layer_normalization
