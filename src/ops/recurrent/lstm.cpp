// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/recurrent/lstm_step.h"
#include "ops/versions/adapters.h"

namespace tenon::ops::op_lstm {

namespace {

Result<void> evaluate(Call& call) {
  const RecurrentLayer layer = TRY(RecurrentLayer::of(call, 4));
  std::vector<std::vector<Activation>> activations;
  for (int64_t d = 0; d < layer.directions; ++d) activations.push_back(TRY(activations_of(call.view, d, kLstmActivations)));
  const std::vector<double> peepholes = call.has(7) ? numbers_of(*call.in[7]) : std::vector<double>(layer.directions * 3 * layer.hidden);
  const double clip = call.view.attributes->has("clip") ? call.view.attributes->number("clip", 0) : INFINITY;
  const bool coupled = call.view.attributes->integer("input_forget", 0) != 0;
  auto step = [&](int64_t d, const double* row, std::vector<double>& h, std::vector<double>& c) {
    const auto& f = activations[d];
    std::vector<double> next(h.size());
    for (int64_t u = 0; u < layer.hidden; ++u) {
      auto gate = [&](LstmGate g, double peep) {
        const double sum =
            layer.from_input(d, g, u, row) + layer.from_state(d, g, u, h) + layer.bias(d, g, u) + layer.state_bias(d, g, u) + peep;
        return std::clamp(sum, -clip, clip);
      };
      const double* p = peepholes.data() + d * 3 * layer.hidden + u;  // input, output, forget
      const double i = f[0](gate(kInputGate, p[0] * c[u]));
      const double forget = coupled ? 1 - i : f[0](gate(kForgetGate, p[2 * layer.hidden] * c[u]));
      const double cell = forget * c[u] + i * f[1](gate(kCellGate, 0));
      next[u] = f[0](gate(kOutputGate, p[layer.hidden] * cell)) * f[2](cell);
      c[u] = cell;
    }
    h = std::move(next);
  };
  return layer.run(call, 6, step);
}

}  // namespace

OP(lstm) {
    .name = "LSTM",
    .since_version = 22,
    .inputs = {{"X", "W", "R", "B?", "sequence_lens?", "initial_h?", "initial_c?", "P?"}},
    .outputs = {{"Y?", "Y_h?", "Y_c?"}},
    .attributes = {.array = concatenated<kRecurrentAttributes, literals<"input_forget: int = 0">>},
    .infer = [](NodeView& view) { return infer_recurrent(view, 4, 2); },
    .reference = evaluate,
    .definition =
        [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
          return define_recurrent(build, view, in,
                                  {.gates = 4, .initial = {5, 6}, .activations = kLstmActivations, .step = define_lstm_step});
        },
    .upgrade = recurrent_upgrade,
    .lowest_opset = [](const NodeView& view) { return view.attributes->integer("layout", 0) != 0 ? 14 : 7; },
    .make_explicit = set_hidden_size,
    .samples = {{"f32[4,2,3], f32[1,20,3], f32[1,20,5]; outputs=3",
                 "f32[4,2,3], f32[2,20,3], f32[2,20,5], f32[2,40]; outputs=3, direction=bidirectional",
                 "f32[2,4,3], f32[1,20,3], f32[1,20,5], f32[1,40], i32[2] = [4, 2], "
                 "f32[2,1,5], f32[2,1,5], f32[1,15]; outputs=3, layout=1, direction=reverse",
                 "f32[3,2,4], f32[2,8,4], f32[2,8,2], f32[2,16], i32[2] = [2, 3], f32[2,2,2], f32[2,2,2], f32[2,6]; outputs=3, "
                 "direction=bidirectional, clip=0.5, activations=[HardSigmoid,Affine,Softsign,Sigmoid,ScaledTanh,Elu], "
                 "activation_alpha=[0.3,0.5,1.5], activation_beta=[0.4,0.1,0.7]",
                 "f64[3,2,4], f64[1,8,4], f64[1,8,2]; input_forget=1", "f16[3,1,4], f16[1,8,4], f16[1,8,2]; outputs=2",
                 "f32[0,2,4], f32[1,8,4], f32[1,8,2]; outputs=3",
                 "f32[3,2,4], f32[2,8,4], f32[2,8,2]; direction=bidirectional, activations=[Sigmoid,Tanh,Tanh,Sigmoid,Relu,Tanh]"}},
};

}  // namespace tenon::ops::op_lstm
