// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/quant/parameters.h"
#include "ops/spatial/convolution.h"

namespace tenon::ops::op_conv_integer {

namespace {

Result<void> infer(NodeView& view) {
  for (size_t k : {0, 1}) TRY(require_dtype(view, k, is_byte, "i8 or u8"));
  TRY(require_single_element(view, 2));
  if (ranks_known(view, {1}) && view.rank(1) > 0) TRY(require_single_element_or(view, 3, view.type(1).dim(0)));
  return infer_conv(view, 0, 1, 4, DType::i32);
}

/// Padding has the value of the zero point: it adds nothing to the sum.
Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  ConvLoop conv = TRY(conv_loop(view, 0, 1));
  Expr x = cast(conv.x, DType::i32), w = cast(conv.w, DType::i32);
  auto zero = [&](size_t input, Expr channel) {
    const DimList& own = *view.type(input).shape;
    std::vector<Expr> at(own.size(), index_constant(0));
    if (own.size() == 1 && !own[0].known_equal(1)) at[0] = channel;
    return cast(load(conv.loop, operand_access(view, input, at)), DType::i32);
  };
  if (view.has(2)) {
    const Expr within = conv.loop.accesses[0].within;
    x = x - zero(2, index_constant(0));
    if (within) x = select(within, x, Expr::integer(DType::i32, 0));
  }
  if (view.has(3)) w = w - zero(3, conv.output_channel);
  return contraction_form(std::move(conv.loop), x * w, DType::i32, *view.outputs[0].shape, {}, conv.index);
}

Result<void> evaluate(Call& call) {
  const Tensor &x = *call.in[0], &w = *call.in[1];
  const ConvSizes s = TRY(conv_sizes(call, 0, 1));
  std::vector<double> data = numbers_of(x), weights = numbers_of(w);
  if (call.has(2))
    for (double& v : data) v -= call.in[2]->number(0);
  if (call.has(3))
    for (int64_t i = 0; i < w.count(); ++i) weights[i] -= call.in[3]->number(call.in[3]->count() == 1 ? 0 : i / s.per_output);
  store_numbers(*TRY(call.make(0, s.shape)), convolve(data, weights, s));
  return {};
}

}  // namespace

OP(conv_integer) {
    .name = "ConvInteger",
    .since_version = 10,
    .inputs = {{"x", "w", "x_zero_point?", "w_zero_point?"}},
    .outputs = {{"y"}},
    .attributes = kConvAttributes,
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .first_opset = 10,
    .samples = {{"u8[1,1,3,3], u8[1,1,2,2], u8[] = 1", "u8[1,2,5,5] in 0..255, i8[4,1,3,3], u8[] = 9, i8[4]; pads=[1,1,1,1], group=2",
                 "i8[2,3,7], i8[2,3,3]; strides=[2]"}},
};

}  // namespace tenon::ops::op_conv_integer
