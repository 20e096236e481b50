// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/definition/precision.h"
#include "ops/infer/axes.h"
#include "ops/infer/require.h"
#include "ops/norm/statistics.h"
#include "ops/versions/lowest_opset.h"

namespace tenon::ops::op_rms_normalization {

namespace {

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  TRY(require_dtype(view, 1, is_arithmetic_float, "a float type"));
  Type out = view.type(0);
  out.dtype = dtype_of(view, 1);
  if (ranks_known(view, {0, 1})) {
    TRY(axis_attribute(view));
    TRY(require_broadcastable(view, *view.type(1).shape, *out.shape, "sizes of scale and of X"));
  }
  set_output(view, 0, std::move(out));
  return {};
}

Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  const DimList& shape = *view.type(0).shape;
  const std::vector<int> row = axes_from(TRY(axis_attribute(view)), view.rank(0));
  const DType wide = statistics_dtype(view.type(0).dtype);
  std::vector<Loop> loops;
  auto element = [&](RowLoop& rows) { return cast(rows.load_operand(view, 0), wide); };
  const int root = add_root_mean_square(loops, shape, row, wide, element, view.attributes->number("epsilon", 1e-5f));
  RowLoop last = map_rows(shape, row);
  const Expr normalised = element(last) * last.load_of_row(root, wide);
  const Expr scale = cast(load(last.loop, operand_access(view, 1, broadcast_index(*view.type(1).shape, shape))), wide);
  add_output(last, view.outputs[0].dtype, shape, normalised * scale);
  loops.push_back(std::move(last.loop));
  return loop_sequence_form(std::move(loops));
}

Result<void> evaluate(Call& call) {
  const Tensor &t = *call.in[0], &scale = *call.in[1];
  const int axis = TRY(normalise_axis(call.view, call.view.attributes->integer("axis", -1), t.rank()));
  const double epsilon = call.view.attributes->number("epsilon", 1e-5f);
  std::vector<double> x = numbers_of(t);
  const std::vector<double> factors = numbers_of(scale);
  const RowOffsets rows = row_offsets(t.shape(), axes_from(axis, t.rank()));
  const Sizes step = broadcast_strides(scale.shape(), t.shape());
  for (int64_t base : rows.bases) {
    double squares = 0;
    for (int64_t at : rows.inner) squares += x[base + at] * x[base + at];
    const double root = std::sqrt(squares / static_cast<double>(rows.inner.size()) + epsilon);
    for (int64_t at : rows.inner) x[base + at] = x[base + at] / root * factors[offset_of(index_of(base + at, t.shape()), step)];
  }
  store_numbers(*TRY(call.make(0, t.shape())), x);
  return {};
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  const auto axes = normalised_axes(view);
  if (!axes) return {};
  const DType dtype = view.type(0).dtype, scale = view.type(1).dtype, wide = definition_dtype(dtype);
  const ir::ValueId x = as_dtype(build, in[0], dtype, wide);
  const ir::ValueId root = define_root_mean_square(build, x, wide, *axes, view.attributes->number("epsilon", 1e-5f));
  const ir::ValueId y = build("Mul", {build("Mul", {x, root}), as_dtype(build, in[1], scale, wide)});
  return {as_dtype(build, y, wide, scale)};
}

}  // namespace

OP(rms_normalization) {
    .name = "RMSNormalization",
    .since_version = 23,
    .inputs = {{"X", "scale"}},
    .outputs = {{"Y"}},
    .attributes = {{"axis: int = -1", "epsilon: float = 1e-05", "stash_type: int = 1"}},
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .definition = define,
    // Shape inference of the package onnx (1.23) gives Y the type of X, where the schema gives it that of the scale.
    .lowest_opset = [](const NodeView& view) { return dtype_of(view, 0) == dtype_of(view, 1) ? 23 : kNeverExported; },
    .first_opset = 23,
    .samples = {{"f32[2,3,8], f32[8]", "f32[2,3,4], f32[3,4]; axis=1", "f16[3,16], f16[16]", "f64[2,5], f64[1]; epsilon=0.5",
                 "f32[0,4], f32[4]", "f32[2,3,4,5], f32[4,5]; axis=-2"}},
};

}  // namespace tenon::ops::op_rms_normalization
