// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/quant/granularity.h"
#include "ops/reference/indices.h"

namespace tenon::ops::op_dequantize_linear {

namespace {

Result<LoopForm> form_of_dequantize(const NodeView& view) {
  TRY(require_known_ranks(view));
  const Type& result = view.outputs[0];
  const int rank = result.rank(), scale_rank = view.rank(1);
  const Granularity granularity = TRY(granularity_of(view, rank, scale_rank));
  const DType compute = compute_dtype(result.dtype);
  Loop loop;
  loop.axes = parallel_axes(*result.shape);
  Expr y = cast(load(loop, operand_access(view, 0, axis_indices(rank))), compute);
  if (view.has(2)) y = y - cast(load(loop, operand_access(view, 2, parameter_index(granularity, view, 2))), compute);
  y = y * cast(load(loop, operand_access(view, 1, parameter_index(granularity, view, 1))), compute);
  loop.outputs.push_back(full_output(result.dtype, *result.shape, y));
  return single_loop_form(std::move(loop));
}

Result<void> reference_of_dequantize(Call& call) {
  const Tensor &x = *call.in[0], &scale = *call.in[1];
  const Granularity granularity = TRY(granularity_of(call.view, x.rank(), scale.rank()));
  Tensor* out = TRY(call.make(0, x.shape()));
  Sizes at(x.shape().size(), 0);
  for (int64_t i = 0; i < x.count(); ++i) {
    const int64_t k = parameter_position(granularity, at, scale.shape());
    if (k >= scale.count()) return refuse(call.view, Code::shape_mismatch, "the scale is shorter than its axis");
    out->set_number(i, (x.number(i) - (call.has(2) ? call.in[2]->number(k) : 0)) * scale.number(k));
    next_index(at, x.shape());
  }
  return {};
}

}  // namespace

OP(dequantize_linear) {
    .name = "DequantizeLinear",
    .since_version = 28,
    .inputs = {{"x", "x_scale", "x_zero_point?"}},
    .outputs = {{"y"}},
    .attributes = {{"axis: int = 1 since 13", "block_size: int = 0 since 21", "output_dtype: int = 0 since 23"}},
    .placed_with = PlacedWith::consumer,
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_dtype(view, 1, is_float, "a float dtype"));
      Type type(TRY(quantized_dtype(view, 1, DType::f32)));
      type.shape = view.type(0).shape;
      TRY(require_parameter_sizes(view, 1, 2));
      set_output(view, 0, std::move(type));
      return {};
    },
    .loop_form = form_of_dequantize,
    .reference = reference_of_dequantize,
    .lowest_opset = [](const NodeView&) { return 13; },
    .first_opset = 10,
    .samples = {{"u8[2,3], f32[] = 0.1, u8[] = 128", "i8[2,3], f32[3] = [0.1, 0.2, 0.01], i8[3] = [0, 1, -1]", "i32[4], f32[] = 0.5",
                 "i8[2,4], f32[2,2], i8[2,2]; axis=1, block_size=2", "u8[3], f16[] = 0.25", "i8[0,2], f32[] = 1",
                 "i4[4] = [-8, 7, 0, 1], f32[] = 2", "u16[2,3], f64[2] = [0.5, 2]; axis=0", "u8[2,3], f32[1] = [0.1], u8[1] = [128]"}},
};

}  // namespace tenon::ops::op_dequantize_linear
