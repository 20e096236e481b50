// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/infer_by_definition.h"
#include "ops/infer/require.h"
#include "ops/recurrent/lstm_step.h"

namespace tenon::ops::op_dynamic_quantize_lstm {

namespace {

enum Operand : size_t { kX, kW, kR, kState = 5, kCellState, kWScale = 8, kWZero, kRScale, kRZero };

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (!ranks_known(view, {kX, kW, kR, kWScale, kRScale})) return {};
  for (size_t k : {kWZero, kRZero})
    if (view.has(k) && !view.type(k).has_rank()) return {};
  return define_recurrent(build, view, in,
                          {.gates = 4,
                           .initial = {kState, kCellState},
                           .activations = kLstmActivations,
                           .scales = {kWScale, kRScale},
                           .step = define_lstm_step});
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

/// LSTM with weights of 8 bits. The input of all steps, and the state of each step, are rounded to 8 bits too, over the range that they
/// have in this run, of all entries of the batch that have not ended (ONNX Runtime, contrib_ops/cpu/quantization/dynamic_quantize_lstm.cc,
/// which with several threads takes ranges of parts of the batch).
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
    .samples =
        {{"f32[4,2,3], i8[1,3,20] in -128..127, i8[1,5,20] in -128..127, f32[1,40], _, _, _, _, f32[1] = [0.01], i8[1] = [0], "
          "f32[1] = [0.01], i8[1] = [3]; hidden_size=5, outputs=3",
          "f32[4,2,3], u8[2,3,20] in 0..255, u8[2,5,20] in 0..255, f32[2,40], i32[2] = [4, 2], f32[2,2,5], f32[2,2,5], f32[2,15], "
          "f32[2,20] in 0.001..0.01, u8[2,20] in 100..150, f32[2] = [0.01, 0.02], u8[2] = [128, 120]; hidden_size=5, "
          "direction=bidirectional, outputs=3",
          "f32[3,1,4], i8[1,4,8] in -128..127, i8[1,2,8] in -128..127, _, _, _, _, _, f32[1,8] in 0.001..0.01, i8[1,8] in -3..3, "
          "f32[1,8] in 0.001..0.01, i8[1,8] in -3..3; hidden_size=2, direction=reverse, outputs=2",
          "f32[3,1,4], i8[2,4,20] in -128..127, i8[2,5,20] in -128..127, f32[2,40], _, f32[2,1,5], f32[2,1,5], _, f32[2,20] in "
          "0.001..0.01, i8[2,20] in 0..0, f32[2,20] in 0.001..0.01, i8[2,20] in 0..0; hidden_size=5, direction=bidirectional, outputs=3"}},
};

}  // namespace tenon::ops::op_dynamic_quantize_lstm
