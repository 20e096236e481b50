// SPDX-License-Identifier: Apache-2.0
#include "base/scalar.h"
#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/quant/granularity.h"
#include "ops/reference/indices.h"

namespace tenon::ops::op_quantize_linear {

namespace {

/// The dtype of the division x / scale, which affects how ties round: attribute `precision`, else that of the scale.
DType division_dtype(const NodeView& view) {
  const auto wanted = dtype_from_onnx(view.attributes->integer("precision", 0));
  const DType dtype = wanted && *wanted != DType::none ? *wanted : dtype_of(view, 1);
  return is_arithmetic_float(dtype) ? dtype : DType::f32;
}

Result<LoopForm> form_of_quantize(const NodeView& view) {
  TRY(require_known_ranks(view));
  const Type& result = view.outputs[0];
  const int rank = result.rank(), scale_rank = view.rank(1);
  const Granularity granularity = TRY(granularity_of(view, rank, scale_rank));
  Loop loop;
  loop.axes = parallel_axes(*result.shape);
  const DType division = division_dtype(view), compute = compute_dtype(division);
  const Expr x = load(loop, operand_access(view, 0, axis_indices(rank)));
  const Expr scale = load(loop, operand_access(view, 1, parameter_index(granularity, view, 1)));
  Expr y = cast(x, compute) / cast(scale, compute);
  if (division != compute) y = cast(cast(y, division), compute);
  if (is_integer(result.dtype)) {
    y = unary(ExprOp::round_even, y);
    if (view.has(2)) y = y + cast(load(loop, operand_access(view, 2, parameter_index(granularity, view, 2))), compute);
  }  // casting saturates
  loop.outputs.push_back(full_output(result.dtype, *result.shape, y));
  return single_loop_form(std::move(loop));
}

Result<void> reference_of_quantize(Call& call) {
  const Tensor &x = *call.in[0], &scale = *call.in[1];
  const Granularity granularity = TRY(granularity_of(call.view, x.rank(), scale.rank()));
  Tensor* out = TRY(call.make(0, x.shape()));
  const bool integers = is_integer(out->dtype());
  const DType division = division_dtype(call.view);
  const auto [low, high] = integers ? integer_range(out->dtype()) : std::pair(0.0, 0.0);
  Sizes at(x.shape().size(), 0);
  for (int64_t i = 0; i < x.count(); ++i) {
    const int64_t k = parameter_position(granularity, at, scale.shape());
    if (k >= scale.count()) return refuse(call.view, Code::shape_mismatch, "the scale is shorter than its axis");
    double y = round_to(division, x.number(i) / scale.number(k));
    if (integers) {
      y = std::nearbyint(y) + (call.has(2) ? call.in[2]->number(k) : 0);
      out->set_integer(i, static_cast<int64_t>(std::isnan(y) ? 0 : std::min(std::max(y, low), high)));
    } else {
      out->set_number(i, y);
    }
    next_index(at, x.shape());
  }
  return {};
}

}  // namespace

OP(quantize_linear) {
    .name = "QuantizeLinear",
    .since_version = 28,
    .inputs = {{"x", "y_scale", "y_zero_point?"}},
    .outputs = {{"y"}},
    .attributes = {{"axis: int = 1 since 13", "block_size: int = 0 since 21", "output_dtype: int = 0 since 21",
                    "precision: int = 0 since 23", "saturate: int = 1 since 19"}},
    .placed_with = PlacedWith::producer,
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_dtype(view, 0, is_number, "a float dtype or i32"));
      TRY(require_dtype(view, 1, is_number, "a float dtype or i32"));
      Type type(TRY(quantized_dtype(view, 2, DType::u8)));
      type.shape = view.type(0).shape;
      TRY(require_parameter_sizes(view, 1, 2));
      set_output(view, 0, std::move(type));
      return {};
    },
    .loop_form = form_of_quantize,
    .reference = reference_of_quantize,
    .lowest_opset = [](const NodeView&) { return 13; },
    .first_opset = 10,
    .samples = {{"f32[2,3], f32[] = 0.1, u8[] = 128", "f32[2,3], f32[3] = [0.1, 0.2, 0.01], i8[3] = [0, 1, -1]", "f32[4], f32[] = 0.5",
                 "f32[2,4], f32[2,2] in 0.1..1, i8[2,2]; axis=1, block_size=2", "f16[3], f16[] = 0.25, u16[] = 7", "f32[0,2], f32[] = 1",
                 "f32[5] = [-100, 100, 0.5, 1.5, 2.5], f32[] = 1, i4[] = 0", "f64[2,3], f64[2] = [0.5, 2]; axis=0",
                 "f32[2,3], f32[2] = [0.5, 2]; axis=0", "f32[2,3], f32[1] = [0.1], u8[1] = [128]"}},
};

}  // namespace tenon::ops::op_quantize_linear
