// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/infer_by_definition.h"
#include "ops/definition/pieces.h"
#include "ops/infer/require.h"

namespace tenon::ops::op_dynamic_quantize_lstm {

namespace {

enum Input : size_t { kX, kW, kR, kBias, kLengths, kState, kCell, kPeepholes, kWScale, kWZero, kRScale, kRZero };

/// [directions, inner, 4 * hidden] of 8 bits to f32[directions, 4 * hidden, inner]. Scales and zero points are one a direction, or one a
/// column.
ir::ValueId weights(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in, size_t codes, size_t scale, size_t zero) {
  const auto spread = [&](size_t k) {
    return build("Unsqueeze", {cast_to(build, in[k], DType::f32), build.ints(view.rank(k) == 1 ? Ints{1, 2} : Ints{1})});
  };
  ir::ValueId numbers = cast_to(build, in[codes], DType::f32);
  if (view.has(zero)) numbers = build("Sub", {numbers, spread(zero)});
  return transposed(build, build("Mul", {numbers, spread(scale)}), {0, 2, 1});
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (!ranks_known(view, {kX, kW, kR, kWScale, kRScale})) return {};
  for (size_t k : {kWZero, kRZero})
    if (view.has(k) && !view.type(k).has_rank()) return {};
  std::vector<ir::ValueId> operands{in[kX], weights(build, view, in, kW, kWScale, kWZero), weights(build, view, in, kR, kRScale, kRZero)};
  for (size_t k : {kBias, kLengths, kState, kCell, kPeepholes}) operands.push_back(view.has(k) ? in[k] : ir::ValueId{});
  while (!operands.back()) operands.pop_back();
  ir::Attributes attributes = *view.attributes;
  return build.many(*build.graph().ops().find("", "LSTM"), std::move(operands), view.outputs.size(), std::move(attributes));
}

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, kX, [](DType d) { return d == DType::f32; }, "f32"));
  for (size_t k : {kW, kR}) {
    TRY(require_dtype(view, k, [](DType d) { return d == DType::i8 || d == DType::u8; }, "i8 or u8"));
    TRY(require_rank(view, k, 3));
  }
  for (size_t k : {kWScale, kRScale}) TRY(require_rank(view, k, 1, 2));
  for (size_t k : {kWZero, kRZero})
    if (view.has(k)) TRY(require_rank(view, k, 1, 2));
  return infer_by_definition(view);
}

}  // namespace

/// LSTM with weights of 8 bits. ONNX Runtime rounds the input and the state of each step to 8 bits too, by their range; here they stay as
/// they are, so that results differ by that rounding.
OP(dynamic_quantize_lstm) {
    .name = "DynamicQuantizeLSTM",
    .domain = "com.microsoft",
    .inputs = {{"X", "W", "R", "B?", "sequence_lens?", "initial_h?", "initial_c?", "P?", "W_scale", "W_zero_point", "R_scale",
                "R_zero_point"}},
    .outputs = {{"Y?", "Y_h?", "Y_c?"}},
    .attributes = {{"activation_alpha: floats", "activation_beta: floats", "activations: strings", "clip: float",
                    "direction: string = forward", "hidden_size: int", "input_forget: int = 0"}},
    .infer = infer,
    .definition = define,
    .samples = {{"f32[4,2,3], i8[1,3,20] in -128..127, i8[1,5,20] in -128..127, f32[1,40], _, _, _, _, f32[1] = [0.01], i8[1] = [0], "
                 "f32[1] = [0.01], i8[1] = [3]; hidden_size=5, outputs=3",
                 "f32[4,2,3], u8[2,3,20] in 0..255, u8[2,5,20] in 0..255, f32[2,40], i32[2] = [4, 2], f32[2,2,5], f32[2,2,5], f32[2,15], "
                 "f32[2,20] in 0.001..0.01, u8[2,20] in 100..150, f32[2] = [0.01, 0.02], u8[2] = [128, 120]; hidden_size=5, "
                 "direction=bidirectional, outputs=3",
                 "f32[3,1,4], i8[1,4,8] in -128..127, i8[1,2,8] in -128..127, _, _, _, _, _, f32[1,8] in 0.001..0.01, i8[1,8] in -3..3, "
                 "f32[1,8] in 0.001..0.01, i8[1,8] in -3..3; hidden_size=2, direction=reverse, outputs=2"}},
};

}  // namespace tenon::ops::op_dynamic_quantize_lstm
