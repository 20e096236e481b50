// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/lstm_step.h"

#include "ops/definition/plain_ops.h"

namespace tenon::ops {

std::vector<ir::ValueId> define_lstm_step(const CellStep& cell) {
  constexpr size_t kPeepholes = 7;
  const ir::ValueId h = cell.previous_state[0], c = cell.previous_state[1];
  const ir::ValueId sums = cell("Add", {cell.x, cell.from_state(h)});
  // Peepholes are in the order input, output, forget.
  auto gate = [&](LstmGate g, ir::ValueId seen) {
    const ir::ValueId sum = cell.gates_of(sums, g, g + 1);
    const bool peeps = g != kCellGate && cell.view.has(kPeepholes);
    return peeps ? cell("Add", {sum, cell("Mul", {cell.weights(kPeepholes, g, g + 1), seen})}) : sum;
  };
  const ir::ValueId i = cell.activate(0, gate(kInputGate, c));
  const bool coupled = cell.view.attributes->integer("input_forget", 0) != 0;
  const ir::ValueId forget = coupled ? cell("Sub", {scalar_like(cell.body.build, i, 1), i}) : cell.activate(0, gate(kForgetGate, c));
  const ir::ValueId next = cell("Add", {cell("Mul", {forget, c}), cell("Mul", {i, cell.activate(1, gate(kCellGate, c))})});
  const ir::ValueId shown = next ? cell.activations[2](cell.body.build, next) : next;
  return {cell("Mul", {cell.activate(0, gate(kOutputGate, next)), shown}), next};
}

}  // namespace tenon::ops
