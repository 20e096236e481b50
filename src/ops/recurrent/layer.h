// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/definition/body_builder.h"
#include "ops/recurrent/activations.h"

namespace tenon::ops {

inline constexpr StringList kRecurrentAttributes = {{"activation_alpha: floats", "activation_beta: floats", "activations: strings",
                                                     "clip: float", "direction: string = forward", "hidden_size: int", "layout: int = 0"}};

/// Operands X, W, R, B?, sequence_lens?, initial_h?; results Y, Y_h and (states 2) Y_c. gates: rows of W per hidden unit.
Result<void> infer_recurrent(NodeView& view, int64_t gates, size_t states);

/// The reference of one layer: its weights as numbers, and the loop over directions, batch entries and steps.
struct RecurrentLayer {
  int64_t steps = 0, batch = 0, input = 0, hidden = 0, directions = 1, gates = 1;
  bool batch_first = false;
  std::vector<double> x, w, r, b;  ///< b: zeros where missing
  std::vector<int64_t> lengths;

  /// Errors: shape_mismatch.
  static Result<RecurrentLayer> of(const Call& call, int64_t gates);
  /// W[direction, gate, unit] * x + both biases, and R[...] * h without a bias.
  double from_input(int64_t d, int64_t gate, int64_t unit, const double* row) const;
  double from_state(int64_t d, int64_t gate, int64_t unit, const std::vector<double>& h) const;
  double bias(int64_t d, int64_t gate, int64_t unit) const { return b[d * 2 * gates * hidden + gate * hidden + unit]; }
  double state_bias(int64_t d, int64_t gate, int64_t unit) const { return b[(d * 2 + 1) * gates * hidden + gate * hidden + unit]; }

  /// step(direction, x row, h, c): updates h (and c). Results are stored; initial: operands of the first h and c.
  using Step = std::function<void(int64_t direction, const double* row, std::vector<double>& h, std::vector<double>& c)>;
  Result<void> run(Call& call, size_t initial_c, const Step& step) const;
};

/// The weights of one direction, by which a row is multiplied: [columns, gates * hidden].
struct RowWeights {
  ir::ValueId matrix;
  ir::ValueId scale, zero_point;  ///< of a matrix of 8-bit integers, one for all or one a column; none: the matrix has the row's type
};

/// rows [..., columns] times the weights. Before a product with 8-bit integers the rows are rounded to u8 over the range that all of them
/// have together (DynamicQuantizeLinear); the sums are exact.
ir::ValueId multiply_weights(ir::Builder& build, ir::ValueId rows, const RowWeights& weights);

/// One step of a layer inside the body of a Scan. Gates are adjacent blocks of `hidden` columns.
struct CellStep {
  BodyBuilder& body;
  const NodeView& view;
  std::span<const ir::ValueId> in;  ///< the layer's operands, values of the outer graph
  int64_t direction = 0, hidden = 0;
  std::function<RowWeights()> state_weights;  ///< weights R as values of the outer graph
  /// bool[batch, 1]: entries whose h is included in the range over which h is quantized, the others are 0 there; none: all.
  ir::ValueId active_mask;
  std::vector<Activation> activations;
  ir::ValueId x;                            ///< [batch, gates * hidden]: this step of X W^T and its biases
  std::vector<ir::ValueId> previous_state;  ///< h (and c) of the step before: [batch, hidden]

  ir::ValueId operator()(std::string_view op, std::vector<ir::ValueId> operands) const { return body.build(op, std::move(operands)); }
  /// Gates [begin, end) of a row of gates.
  ir::ValueId gates_of(ir::ValueId row, int64_t begin, int64_t end) const;
  /// Gates [begin, end) of this direction of operand W, R, B or P; matrices transposed to [columns, gates * hidden].
  ir::ValueId weights(size_t operand, int64_t begin, int64_t end) const;
  /// h times all gates of R.
  ir::ValueId from_state(ir::ValueId h) const;
  /// Activation `k` of the sum, clipped before.
  ir::ValueId activate(size_t k, ir::ValueId sum) const;
};

/// The parts of define_recurrent that differ between RNN, GRU and LSTM; `step` computes the next h (and c) from x and the previous state.
struct CellDefinition {
  int64_t gates = 1;
  size_t initial[2] = {5, 0};  ///< numbers of the operands with the initial h and, unless 0, the initial c
  std::span<const std::string_view> activations;
  bool state_bias_in_step = false;  ///< the second half of B is added by `step`, not to X W^T
  /// Operands with the scales of W and R, [directions, columns, gates * hidden] of 8-bit integers; each is followed by the zero points.
  /// 0: W and R are [directions, gates * hidden, columns] of X's type.
  size_t scales[2] = {0, 0};
  std::vector<ir::ValueId> (*step)(const CellStep& cell) = nullptr;
};

/// The layer in plain ops: X W^T and the biases for all steps at once, and a Scan a direction over `step`. Steps at and after an entry's
/// length keep the state and give 0. Returns {} where a rank, the hidden size or the number of directions is not known.
std::vector<ir::ValueId> define_recurrent(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in,
                                          const CellDefinition& cell);

}  // namespace tenon::ops
