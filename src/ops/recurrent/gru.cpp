// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/definition/plain_ops.h"
#include "ops/recurrent/layer.h"
#include "ops/versions/adapters.h"

namespace tenon::ops::op_gru {

namespace {

enum Gate : int64_t { kUpdate, kReset, kHidden };

constexpr std::string_view kActivations[] = {"Sigmoid", "Tanh"};

/// Whether the reset gate is applied to the product of h with R, instead of to h.
bool resets_after_product(const NodeView& view) { return view.attributes->integer("linear_before_reset", 0) != 0; }

Result<void> evaluate(Call& call) {
  const RecurrentLayer layer = TRY(RecurrentLayer::of(call, 3));
  std::vector<std::vector<Activation>> activations;
  for (int64_t d = 0; d < layer.directions; ++d) activations.push_back(TRY(activations_of(call.view, d, kActivations)));
  const double clip = call.view.attributes->has("clip") ? call.view.attributes->number("clip", 0) : INFINITY;
  const bool linear = resets_after_product(call.view);
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

std::vector<ir::ValueId> define_step(const CellStep& cell) {
  const ir::ValueId h = cell.previous_state[0];
  const bool linear = resets_after_product(cell.view);
  ir::ValueId from_h = cell("MatMul", {h, cell.weights(2, 0, linear ? 3 : 2)});
  if (linear && cell.view.has(3)) from_h = cell("Add", {from_h, cell.weights(3, 3, 6)});
  const ir::ValueId both = cell.activate(0, cell("Add", {cell.gates_of(cell.x, 0, 2), linear ? cell.gates_of(from_h, 0, 2) : from_h}));
  const ir::ValueId z = cell.gates_of(both, kUpdate, kUpdate + 1), reset = cell.gates_of(both, kReset, kReset + 1);
  const ir::ValueId reset_hidden = linear ? cell("Mul", {reset, cell.gates_of(from_h, kHidden, kHidden + 1)})
                                          : cell("MatMul", {cell("Mul", {reset, h}), cell.weights(2, kHidden, kHidden + 1)});
  const ir::ValueId hidden = cell.activate(1, cell("Add", {cell.gates_of(cell.x, kHidden, kHidden + 1), reset_hidden}));
  const ir::ValueId rest = cell("Sub", {scalar_like(cell.body.build, z, 1), z});
  return {cell("Add", {cell("Mul", {rest, hidden}), cell("Mul", {z, h})})};
}

}  // namespace

OP(gru) {
    .name = "GRU",
    .since_version = 22,
    .inputs = {{"X", "W", "R", "B?", "sequence_lens?", "initial_h?"}},
    .outputs = {{"Y?", "Y_h?"}},
    .attributes = {.array = concatenated<kRecurrentAttributes, literals<"linear_before_reset: int = 0">>},
    .infer = [](NodeView& view) { return infer_recurrent(view, 3, 1); },
    .reference = evaluate,
    .definition =
        [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
          return define_recurrent(
              build, view, in,
              {.gates = 3, .activations = kActivations, .state_bias_in_step = resets_after_product(view), .step = define_step});
        },
    .upgrade = recurrent_upgrade,
    .lowest_opset = [](const NodeView& view) { return view.attributes->integer("layout", 0) != 0 ? 14 : 7; },
    .make_explicit = set_hidden_size,
    .samples = {{"f32[4,2,3], f32[1,15,3], f32[1,15,5]; outputs=2",
                 "f32[4,2,3], f32[2,15,3], f32[2,15,5], f32[2,30]; outputs=2, direction=bidirectional, linear_before_reset=1",
                 "f32[2,4,3], f32[1,15,3], f32[1,15,5], f32[1,30], i32[2] = [4, 2], f32[2,1,5]; outputs=2, layout=1, direction=reverse",
                 "f32[3,2,4], f32[2,6,4], f32[2,6,2], f32[2,12], i32[2] = [0, 3]; outputs=2, direction=bidirectional, "
                 "linear_before_reset=1, clip=1.0, activations=[LeakyRelu,Softplus,Relu,ThresholdedRelu], activation_alpha=[0.2,0.1]",
                 "f64[3,2,4], f64[1,6,4], f64[1,6,2]; linear_before_reset=1", "f16[3,1,4], f16[1,6,4], f16[1,6,2]",
                 "f32[3,2,4], f32[2,6,4], f32[2,6,2]; direction=bidirectional, activations=[Sigmoid,Tanh,Sigmoid,Relu]"}},
};

}  // namespace tenon::ops::op_gru
