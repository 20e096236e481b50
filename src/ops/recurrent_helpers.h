// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/reference_helpers.h"

namespace tenon::ops {

#define TENON_RECURRENT_ATTRIBUTES                                                                                             \
  "activation_alpha: floats", "activation_beta: floats", "activations: strings", "clip: float", "direction: string = forward", \
      "hidden_size: int", "layout: int = 0"

/// Operands X, W, R, B?, sequence_lens?, initial_h?; results Y, Y_h and (states 2) Y_c. gates: rows of W per hidden unit.
Result<void> infer_recurrent(NodeView& view, int64_t gates, size_t states);

using Activation = std::function<double(double)>;
/// The activations of one direction, by name or by default. Errors: bad_attribute for an unknown name.
Result<std::vector<Activation>> activations_of(const NodeView& view, size_t direction, std::initializer_list<std::string_view> otherwise);

/// One layer's numbers and its walk over directions, batch entries and steps.
struct Recurrent {
  int64_t steps = 0, batch = 0, input = 0, hidden = 0, directions = 1, gates = 1;
  bool batch_first = false;
  std::vector<double> x, w, r, b;  ///< b: zeros where missing
  std::vector<int64_t> lengths;

  /// Errors: shape_mismatch.
  static Result<Recurrent> of(const Call& call, int64_t gates);
  /// W[direction, gate, unit] * x + both biases, and R[...] * h without a bias.
  double from_input(int64_t d, int64_t gate, int64_t unit, const double* row) const;
  double from_state(int64_t d, int64_t gate, int64_t unit, const std::vector<double>& h) const;
  double bias(int64_t d, int64_t gate, int64_t unit) const { return b[d * 2 * gates * hidden + gate * hidden + unit]; }
  double state_bias(int64_t d, int64_t gate, int64_t unit) const { return b[(d * 2 + 1) * gates * hidden + gate * hidden + unit]; }

  /// step(direction, x row, h, c): updates h (and c). Results are stored; initial: operands of the first h and c.
  using Step = std::function<void(int64_t direction, const double* row, std::vector<double>& h, std::vector<double>& c)>;
  Result<void> run(Call& call, size_t initial_c, const Step& step) const;
};

}  // namespace tenon::ops
