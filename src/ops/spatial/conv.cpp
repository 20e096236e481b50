// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/reference/indices.h"
#include "ops/spatial/convolution.h"

namespace tenon::ops::op_conv {

namespace {

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  TRY(require_same_dtype(view, 0, 1));
  if (view.has(2)) TRY(require_same_dtype(view, 0, 2));
  return infer_conv(view, 0, 1, 2, dtype_of(view, 0));
}

Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  ConvLoop conv = TRY(conv_loop(view, 0, 1));
  ContractionEpilogue after;
  if (view.has(2)) after = [&](Expr sum, Loop& map) { return sum + to_compute_dtype(load(map, operand_access(view, 2, {Expr::axis(1)}))); };
  return contraction_form(std::move(conv.loop), to_compute_dtype(conv.x) * to_compute_dtype(conv.w), view.outputs[0].dtype,
                          *view.outputs[0].shape, after, conv.index);
}

Result<void> evaluate(Call& call) {
  const Tensor &x = *call.in[0], &w = *call.in[1];
  const int64_t group = call.view.attributes->integer("group", 1), outputs = w.shape()[0];
  if (group < 1 || w.shape()[1] * group != x.shape()[1] || outputs % group != 0)
    return refuse(call.view, Code::shape_mismatch, "channels do not fit");
  const ConvSizes s = TRY(conv_sizes(call, 0, 1));
  Tensor& y = *TRY(call.make(0, s.shape));
  std::vector<double> sum = convolve(numbers_of(x), numbers_of(w), s);
  if (call.has(2)) {
    const int64_t plane = count_of(s.windows.out);
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += call.in[2]->number(static_cast<int64_t>(i) / plane % outputs);
  }
  store_numbers(y, sum);
  return {};
}

}  // namespace

OP(conv) {
    .name = "Conv",
    .since_version = 22,
    .inputs = {{"X", "W", "B?"}},
    .outputs = {{"Y"}},
    .attributes = kConvAttributes,
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .lowest_opset = [](const NodeView& view) { return view.type(0).dtype == DType::bf16 ? 22 : 7; },
    .samples = {{"f32[1,3,8,8], f32[4,3,3,3], f32[4]; pads=[1,1,1,1]", "f32[2,3,9,7], f32[4,3,3,3]; strides=[2,2]",
                 "f32[1,4,6,6], f32[4,1,3,3], f32[4]; group=4, pads=[1,1,1,1]", "f32[1,4,5,5], f32[6,2,1,1]; group=2",
                 "f32[2,3,11], f32[5,3,3], f32[5]; pads=[2,0], dilations=[2]", "f32[1,2,4,5,6], f32[3,2,2,2,2]",
                 "f32[1,1,7,7], f32[2,1,3,3]; auto_pad=SAME_UPPER, strides=[2,2]", "f32[1,1,7,7], f32[2,1,2,2]; auto_pad=SAME_LOWER",
                 "f32[1,1,5,5], f32[1,1,3,3]; auto_pad=VALID", "f16[1,8,5,5], f16[4,8,3,3], f16[4]",
                 "f64[1,2,5,5], f64[2,2,3,3]; pads=[0,1,2,0]", "f32[0,3,8,8], f32[4,3,3,3]"}},
};

}  // namespace tenon::ops::op_conv
