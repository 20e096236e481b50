// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/quant/parameters.h"
#include "ops/reference/indices.h"
#include "ops/spatial/convolution.h"

namespace tenon::ops::op_qlinear_conv {

namespace {

enum Input : size_t { kX, kScaleX, kZeroX, kW, kScaleW, kZeroW, kScaleY, kZeroY, kBias };

Result<void> infer(NodeView& view) {
  for (size_t k : {kX, kW, kZeroY}) TRY(require_dtype(view, k, is_byte, "i8 or u8"));
  for (size_t k : {kScaleX, kScaleW, kScaleY}) TRY(require_dtype(view, k, [](DType d) { return d == DType::f32; }, "f32"));
  TRY(require_dtype(view, kBias, [](DType d) { return d == DType::i32; }, "i32"));
  for (size_t k : {kScaleX, kZeroX, kScaleY, kZeroY}) TRY(require_single_element(view, k));
  for (size_t k : {kScaleW, kZeroW})
    if (ranks_known(view, {kW}) && view.rank(kW) > 0) TRY(require_single_element_or(view, k, view.type(kW).dim(0)));
  return infer_conv(view, kX, kW, kBias, dtype_of(view, kZeroY));
}

/// Checks that the operand has one element, or one for each output channel.
Expr parameter(Loop& loop, const NodeView& view, size_t input, Expr channel) {
  const DimList& own = *view.type(input).shape;
  std::vector<Expr> at(own.size(), index_constant(0));
  if (own.size() == 1 && !own[0].known_equal(1)) at[0] = channel;
  return load(loop, operand_access(view, input, at));
}

Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  ConvLoop conv = TRY(conv_loop(view, kX, kW));
  const Expr within = conv.loop.accesses[0].within;
  Expr x = cast(conv.x, DType::i32) - cast(parameter(conv.loop, view, kZeroX, index_constant(0)), DType::i32);
  if (within) x = select(within, x, Expr::integer(DType::i32, 0));
  const Expr w = cast(conv.w, DType::i32) - cast(parameter(conv.loop, view, kZeroW, conv.output_channel), DType::i32);
  const DType dtype = view.outputs[0].dtype;
  auto after = [&](Expr sum, Loop& map) {
    const Expr channel = Expr::axis(1);
    if (view.has(kBias)) sum = sum + load(map, operand_access(view, kBias, {channel}));
    const Expr factor =
        parameter(map, view, kScaleX, channel) * parameter(map, view, kScaleW, channel) / parameter(map, view, kScaleY, channel);
    return requantized(cast(sum, DType::f32) * factor, parameter(map, view, kZeroY, channel), dtype);
  };
  return contraction_form(std::move(conv.loop), x * w, dtype, *view.outputs[0].shape, after, conv.index);
}

Result<void> evaluate(Call& call) {
  const Tensor &x = *call.in[kX], &w = *call.in[kW];
  const ConvSizes s = TRY(conv_sizes(call, kX, kW));
  auto of = [&](size_t k, int64_t channel) { return call.in[k]->number(call.in[k]->count() == 1 ? 0 : channel); };
  std::vector<double> data = numbers_of(x), weights = numbers_of(w);
  for (double& v : data) v -= of(kZeroX, 0);
  for (int64_t i = 0; i < w.count(); ++i) weights[i] -= of(kZeroW, i / s.per_output);
  const std::vector<double> sum = convolve(data, weights, s);
  Tensor& y = *TRY(call.make(0, s.shape));
  const int64_t plane = count_of(s.windows.out);
  for (int64_t i = 0; i < y.count(); ++i) {
    const int64_t c = i / plane % s.outputs;
    const double total = sum[i] + (call.has(kBias) ? of(kBias, c) : 0);
    y.set_number(i, requantized(total * of(kScaleX, c) * of(kScaleW, c) / of(kScaleY, c), of(kZeroY, c), y.dtype()));
  }
  return {};
}

}  // namespace

OP(qlinear_conv) {
    .name = "QLinearConv",
    .since_version = 10,
    .inputs = {{"x", "x_scale", "x_zero_point", "w", "w_scale", "w_zero_point", "y_scale", "y_zero_point", "B?"}},
    .outputs = {{"y"}},
    .attributes = kConvAttributes,
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .first_opset = 10,
    .samples = {{"u8[1,2,5,5] in 0..255, f32[] = 0.0037, u8[] = 132, u8[3,2,3,3] in 0..255, "
                 "f32[] = 0.0017, u8[] = 255, f32[] = 0.0162, u8[] = 123; pads=[1,1,1,1]",
                 "i8[1,2,5], f32[] = 0.1, i8[] = 1, i8[4,1,2], f32[4] in 0.1..0.3, i8[4], f32[] = 0.05, i8[] = -3, i32[4]; group=2"}},
};

}  // namespace tenon::ops::op_qlinear_conv
