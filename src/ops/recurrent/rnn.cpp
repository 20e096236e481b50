// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/recurrent/layer.h"
#include "ops/versions/adapters.h"

namespace tenon::ops::op_rnn {

namespace {

constexpr std::string_view kActivations[] = {"Tanh"};

Result<void> evaluate(Call& call) {
  const RecurrentLayer layer = TRY(RecurrentLayer::of(call, 1));
  std::vector<std::vector<Activation>> activations;
  for (int64_t d = 0; d < layer.directions; ++d) activations.push_back(TRY(activations_of(call.view, d, kActivations)));
  const double clip = call.view.attributes->has("clip") ? call.view.attributes->number("clip", 0) : INFINITY;
  auto step = [&](int64_t d, const double* row, std::vector<double>& h, std::vector<double>&) {
    std::vector<double> next(h.size());
    for (int64_t u = 0; u < layer.hidden; ++u) {
      const double sum = layer.from_input(d, 0, u, row) + layer.from_state(d, 0, u, h) + layer.bias(d, 0, u) + layer.state_bias(d, 0, u);
      next[u] = activations[d][0](std::clamp(sum, -clip, clip));
    }
    h = std::move(next);
  };
  return layer.run(call, SIZE_MAX, step);
}

std::vector<ir::ValueId> define_step(const CellStep& cell) {
  return {cell.activate(0, cell("Add", {cell.x, cell("MatMul", {cell.previous_state[0], cell.weights(2, 0, 1)})}))};
}

}  // namespace

OP(rnn) {
    .name = "RNN",
    .since_version = 22,
    .inputs = {{"X", "W", "R", "B?", "sequence_lens?", "initial_h?"}},
    .outputs = {{"Y?", "Y_h?"}},
    .attributes = kRecurrentAttributes,
    .infer = [](NodeView& view) { return infer_recurrent(view, 1, 1); },
    .reference = evaluate,
    .definition =
        [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
          return define_recurrent(build, view, in, {.gates = 1, .activations = kActivations, .step = define_step});
        },
    .upgrade = recurrent_upgrade,
    .lowest_opset = [](const NodeView& view) { return view.attributes->integer("layout", 0) != 0 ? 14 : 7; },
    .make_explicit = set_hidden_size,
    .samples = {{"f32[4,2,3], f32[1,5,3], f32[1,5,5]; outputs=2",
                 "f32[4,2,3], f32[2,5,3], f32[2,5,5], f32[2,10]; outputs=2, direction=bidirectional, activations=[Relu,Tanh]",
                 "f32[2,4,3], f32[1,5,3], f32[1,5,5], f32[1,10], i32[2] = [4, 2], f32[2,1,5]; outputs=2, layout=1, direction=reverse",
                 "f64[3,2,4], f64[1,2,4], f64[1,2,2], _, i32[2] = [1, 3], f64[1,2,2]; outputs=2, clip=0.7, activations=[Affine], "
                 "activation_alpha=[0.5], activation_beta=[0.1]"}},
};

}  // namespace tenon::ops::op_rnn
