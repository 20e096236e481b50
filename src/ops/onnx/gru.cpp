// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/recurrent_helpers.h"

namespace tenon::ops {

namespace {

enum Gate : int64_t { kUpdate, kReset, kHidden };

Result<void> evaluate(Call& call) {
  const Recurrent layer = TRY(Recurrent::of(call, 3));
  std::vector<std::vector<Activation>> activations;
  for (int64_t d = 0; d < layer.directions; ++d) activations.push_back(TRY(activations_of(call.view, d, {"Sigmoid", "Tanh"})));
  const double clip = call.view.attributes->has("clip") ? call.view.attributes->number("clip", 0) : INFINITY;
  const bool linear = call.view.attributes->integer("linear_before_reset", 0) != 0;
  auto step = [&](int64_t d, const double* row, std::vector<double>& h, std::vector<double>&) {
    const auto& f = activations[d];
    auto gate = [&](Gate g, int64_t u) {
      const double sum = layer.from_input(d, g, u, row) + layer.from_state(d, g, u, h) + layer.bias(d, g, u) + layer.state_bias(d, g, u);
      return f[0](std::clamp(sum, -clip, clip));
    };
    std::vector<double> reset(h.size()), gated(h.size()), next(h.size());
    for (int64_t u = 0; u < layer.hidden; ++u) gated[u] = (reset[u] = gate(kReset, u)) * h[u];
    for (int64_t u = 0; u < layer.hidden; ++u) {
      const double from_h = linear ? reset[u] * (layer.from_state(d, kHidden, u, h) + layer.state_bias(d, kHidden, u))
                                   : layer.from_state(d, kHidden, u, gated) + layer.state_bias(d, kHidden, u);
      const double hidden = f[1](std::clamp(layer.from_input(d, kHidden, u, row) + layer.bias(d, kHidden, u) + from_h, -clip, clip));
      const double z = gate(kUpdate, u);
      next[u] = (1 - z) * hidden + z * h[u];
    }
    h = std::move(next);
  };
  return layer.run(call, SIZE_MAX, step);
}

}  // namespace

OP(gru) {
    .name = "GRU",
    .since = 22,
    .inputs = {"X", "W", "R", "B?", "sequence_lens?", "initial_h?"},
    .outputs = {"Y?", "Y_h?"},
    .attributes = {TENON_RECURRENT_ATTRIBUTES, "linear_before_reset: int = 0"},
    .infer = [](NodeView& view) { return infer_recurrent(view, 3, 1); },
    .reference = evaluate,
    .lowest_opset = [](const NodeView& view) { return view.attributes->integer("layout", 0) != 0 ? 14 : 7; },
    .samples = {"f32[4,2,3], f32[1,15,3], f32[1,15,5]; outputs=2",
                "f32[4,2,3], f32[2,15,3], f32[2,15,5], f32[2,30]; outputs=2, direction=bidirectional, linear_before_reset=1",
                "f32[2,4,3], f32[1,15,3], f32[1,15,5], f32[1,30], i32[2] = [4, 2], f32[2,1,5]; outputs=2, layout=1, direction=reverse"},
};

}  // namespace tenon::ops
