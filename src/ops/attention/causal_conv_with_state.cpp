// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/infer/require.h"

namespace tenon::ops::op_causal_conv_with_state {

namespace {

/// Checks that the weight is depthwise, that the bias has one element a channel, and that past and new state have one shape.
Result<void> require_operands(const NodeView& view, const DimList& state) {
  TRY(require_equal(view, view.type(1).dim(1), Dim(1), "channels of one filter and 1"));
  if (view.has(2)) TRY(require_rank(view, 2, 1));
  if (view.has(2) && ranks_known(view, {2})) TRY(require_equal(view, view.type(2).dim(0), state[1], "bias and channels"));
  if (!view.has(3)) return {};
  TRY(require_rank(view, 3, 3));
  for (int axis = 0; ranks_known(view, {3}) && axis < 3; ++axis)
    TRY(require_equal(view, view.type(3).dim(axis), state[static_cast<size_t>(axis)], "sizes of the past state and of the new one"));
  return {};
}

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  for (size_t k : {0, 1}) TRY(require_rank(view, k, 3));
  const std::string activation = view.attributes->text("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish") {
    return refuse(view, Code::bad_attribute, "activation has an unknown value").expected("none, silu or swish").found(activation);
  }
  Type state(dtype_of(view, 0));
  if (ranks_known(view, {0, 1})) {
    TRY(require_equal(view, view.type(0).dim(1), view.type(1).dim(0), "channels of input and weight"));
    state.shape = DimList{view.type(0).dim(0), view.type(0).dim(1), view.type(1).dim(2) - 1};
    TRY(require_operands(view, *state.shape));
  }
  set_output(view, 0, view.type(0));
  set_output(view, 1, std::move(state));
  return {};
}

/// A depthwise convolution over the past state and the input, one output a position of the input.
Result<void> evaluate(Call& call) {
  const Tensor &t = *call.in[0], &w = *call.in[1];
  const int64_t channels = t.shape()[1], length = t.shape()[2], taps = w.shape()[2], before = taps - 1;
  const bool gated = call.view.attributes->text("activation", "none") != "none";
  Tensor& y = *TRY(call.make(0, t.shape()));
  Tensor* state = call.out.size() > 1 ? TRY(call.make(1, {t.shape()[0], channels, before})) : nullptr;
  std::vector<double> line(before + length);
  for (int64_t r = 0; r < t.shape()[0] * channels; ++r) {
    for (int64_t k = 0; k < before; ++k) line[k] = call.has(3) ? call.in[3]->number(r * before + k) : 0;
    for (int64_t k = 0; k < length; ++k) line[before + k] = t.number(r * length + k);
    for (int64_t k = 0; k < length; ++k) {
      double sum = call.has(2) ? call.in[2]->number(r % channels) : 0;
      for (int64_t tap = 0; tap < taps; ++tap) sum += line[k + tap] * w.number(r % channels * taps + tap);
      y.set_number(r * length + k, gated ? sum / (1 + std::exp(-sum)) : sum);
    }
    for (int64_t k = 0; state && k < before; ++k) state->set_number(r * before + k, line[length + k]);
  }
  return {};
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (!ranks_known(view, {0, 1}) || !view.type(1).dim(0).is_number() || !view.type(1).dim(2).is_number()) return {};
  const int64_t channels = view.type(1).dim(0).value(), before = view.type(1).dim(2).value() - 1;
  const ir::ValueId line =
      view.has(3) ? build("Concat", {in[3], in[0]}, {{"axis", int64_t{2}}}) : build("Pad", {in[0], build.ints({0, 0, before, 0, 0, 0})});
  ir::ValueId y = build("Conv", {line, in[1], view.has(2) ? in[2] : ir::ValueId{}}, {{"group", channels}});
  if (view.attributes->text("activation", "none") != "none") y = build("Swish", {y});
  const ir::ValueId length = build("Shape", {in[0]}, {{"start", int64_t{2}}, {"end", int64_t{3}}});
  return {y, build("Slice", {line, length, build.ints({INT64_MAX}), build.ints({2})})};
}

}  // namespace

OP(causal_conv_with_state) {
    .name = "CausalConvWithState",
    .since_version = 27,
    .inputs = {{"input", "weight", "bias?", "past_state?"}},
    .outputs = {{"output", "present_state"}},
    .attributes = {{"activation: string = none"}},
    .infer = infer,
    .reference = evaluate,
    .definition = define,
    .first_opset = 27,
    .samples = {{"f32[2,3,5], f32[3,1,4]; outputs=2", "f32[2,3,1], f32[3,1,4], f32[3], f32[2,3,3]; outputs=2, activation=silu",
                 "f16[1,2,4], f16[2,1,1]; outputs=2"}},
};

}  // namespace tenon::ops::op_causal_conv_with_state
