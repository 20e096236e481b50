// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/recurrent_helpers.h"

namespace tenon::ops {

namespace {

enum Gate : int64_t { kInput, kOutput, kForget, kCell };

Result<void> evaluate(Call& call) {
  const Recurrent layer = TRY(Recurrent::of(call, 4));
  std::vector<std::vector<Activation>> activations;
  for (int64_t d = 0; d < layer.directions; ++d) activations.push_back(TRY(activations_of(call.view, d, {"Sigmoid", "Tanh", "Tanh"})));
  const std::vector<double> peepholes = call.has(7) ? numbers_of(*call.in[7]) : std::vector<double>(layer.directions * 3 * layer.hidden);
  const double clip = call.view.attributes->has("clip") ? call.view.attributes->number("clip", 0) : INFINITY;
  const bool coupled = call.view.attributes->integer("input_forget", 0) != 0;
  auto step = [&](int64_t d, const double* row, std::vector<double>& h, std::vector<double>& c) {
    const auto& f = activations[d];
    std::vector<double> next(h.size());
    for (int64_t u = 0; u < layer.hidden; ++u) {
      auto gate = [&](Gate g, double peep) {
        const double sum =
            layer.from_input(d, g, u, row) + layer.from_state(d, g, u, h) + layer.bias(d, g, u) + layer.state_bias(d, g, u) + peep;
        return std::clamp(sum, -clip, clip);
      };
      const double* p = peepholes.data() + d * 3 * layer.hidden + u;  // input, output, forget
      const double i = f[0](gate(kInput, p[0] * c[u]));
      const double forget = coupled ? 1 - i : f[0](gate(kForget, p[2 * layer.hidden] * c[u]));
      const double cell = forget * c[u] + i * f[1](gate(kCell, 0));
      next[u] = f[0](gate(kOutput, p[layer.hidden] * cell)) * f[2](cell);
      c[u] = cell;
    }
    h = std::move(next);
  };
  return layer.run(call, 6, step);
}

}  // namespace

OP(lstm) {
    .name = "LSTM",
    .since = 22,
    .inputs = {"X", "W", "R", "B?", "sequence_lens?", "initial_h?", "initial_c?", "P?"},
    .outputs = {"Y?", "Y_h?", "Y_c?"},
    .attributes = {TENON_RECURRENT_ATTRIBUTES, "input_forget: int = 0"},
    .infer = [](NodeView& view) { return infer_recurrent(view, 4, 2); },
    .reference = evaluate,
    .lowest_opset = [](const NodeView& view) { return view.attributes->integer("layout", 0) != 0 ? 14 : 7; },
    .samples = {"f32[4,2,3], f32[1,20,3], f32[1,20,5]; outputs=3",
                "f32[4,2,3], f32[2,20,3], f32[2,20,5], f32[2,40]; outputs=3, direction=bidirectional",
                "f32[2,4,3], f32[1,20,3], f32[1,20,5], f32[1,40], i32[2] = [4, 2], "
                "f32[2,1,5], f32[2,1,5], f32[1,15]; outputs=3, layout=1, direction=reverse"},
};

}  // namespace tenon::ops
