// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/plain_ops.h"
#include "ops/form/loops.h"
#include "ops/infer/types.h"
#include "ops/quant/definition.h"
#include "ops/recurrent/layer.h"

namespace tenon::ops {

using ir::ValueId;

namespace {

enum RecurrentOperand : size_t { kX, kW, kR, kB, kLengths };

/// Rows [begin, end) of direction `d`, cast to the dtype of sums: of an operand [directions, rows] or, transposed, of [directions, rows,
/// columns].
ValueId rows_of(ir::Builder& build, const NodeView& view, std::span<const ValueId> in, size_t operand, int64_t d, int64_t begin,
                int64_t end) {
  const ValueId part = sliced(build, squeezed(build, sliced(build, in[operand], 0, d, d + 1), 0), 0, begin, end);
  const ValueId rows = cast_to(build, part, compute_dtype(view.type(kX).dtype));
  return view.rank(operand) == 3 ? transposed(build, rows, {1, 0}) : rows;
}

/// Builds one layer: values that all directions share, then a Scan for each direction.
class Layer {
 public:
  Layer(ir::Builder& build, const NodeView& view, std::span<const ValueId> in, const CellDefinition& cell)
      : build_(build), view_(view), in_(in), cell_(cell), hidden_(view.type(kR).dim(cell.scales[1] ? 1 : 2).value()) {
    batch_first_ = view.attributes->integer("layout", 0) != 0;
    const ValueId x = cast_to(build, in[kX], compute_dtype(view.type(kX).dtype));
    x_ = batch_first_ ? transposed(build, x, {1, 0, 2}) : x;
    if (!view.has(kLengths)) return;
    mask_ = mask("Less");
    if (!cell_.scales[1]) return;
    active_mask_ = mask("LessOrEqual");
    x_ = zero_after_longest(x_);
  }

  std::vector<ValueId> run() {
    const std::string direction = view_.attributes->text("direction", "forward");
    const int64_t directions = direction == "bidirectional" ? 2 : 1;
    std::vector<std::vector<ValueId>> results;  // of a direction: Y, Y_h, Y_c
    for (int64_t d = 0; d < directions; ++d) {
      results.push_back(scan(d, direction == "reverse" || d == 1));
      if (results.back().empty()) return {};
    }
    std::vector<ValueId> out;
    for (size_t k = 0; k < results[0].size(); ++k) out.push_back(joined(results, k));
    return out;
  }

 private:
  /// bool[steps, batch, 1]: whether the number of the step is less than the entry's length; with "LessOrEqual": whether the step before
  /// was.
  ValueId mask(std::string_view compare) {
    const ValueId steps = build_("Unsqueeze", {iota(build_, size_of(build_, x_, 0)), build_.ints({1})});
    const ValueId inside = build_(compare, {steps, lengths()});
    return build_("Unsqueeze", {inside, build_.ints({2})});
  }

  ValueId lengths() { return cast_to(build_, in_[kLengths], DType::i64); }

  /// x with zeros after the last step of the longest entry.
  ValueId zero_after_longest(ValueId x) {
    const ValueId steps = build_("Unsqueeze", {iota(build_, size_of(build_, x, 0)), build_.ints({1, 2})});
    const ValueId longest = build_("ReduceMax", {lengths()}, {{"keepdims", int64_t{0}}});
    return build_("Where", {build_("Less", {steps, longest}), x, scalar_like(build_, x, 0)});
  }

  /// Reverses the steps of each entry; steps after its length stay.
  ValueId reversed_entries(ValueId x) {
    return build_("ReverseSequence", {x, lengths()}, {{"time_axis", int64_t{0}}, {"batch_axis", int64_t{1}}});
  }

  /// [batch, hidden]
  ValueId initial(size_t operand, int64_t d) {
    const int axis = batch_first_ ? 1 : 0;
    if (view_.has(operand)) {
      const ValueId given = cast_to(build_, in_[operand], compute_dtype(view_.type(kX).dtype));
      return squeezed(build_, sliced(build_, given, axis, d, d + 1), axis);
    }
    const ValueId shape = build_("Concat", {shape_of(build_, x_, 1, 2), build_.ints({hidden_})}, {{"axis", int64_t{0}}});
    return build_("Expand", {scalar_like(build_, x_, 0), shape});
  }

  /// The weights of direction `d` in operand W or R.
  RowWeights weights_of(size_t operand, int64_t d) {
    const size_t scale = cell_.scales[operand == kR];
    if (scale == 0) return {rows_of(build_, view_, in_, operand, d, 0, cell_.gates * hidden_), {}, {}};
    const auto of_direction = [&](size_t k) { return view_.has(k) ? squeezed(build_, sliced(build_, in_[k], 0, d, d + 1), 0) : ValueId{}; };
    return {of_direction(operand), of_direction(scale), of_direction(scale + 1)};
  }

  /// [steps, batch, gates * hidden]
  ValueId from_input(int64_t d, bool from_last) {
    const int64_t rows = cell_.gates * hidden_;
    const ValueId product = multiply_weights(build_, from_last ? reversed_entries(x_) : x_, weights_of(kW, d));
    if (!view_.has(kB)) return product;
    ValueId bias = rows_of(build_, view_, in_, kB, d, 0, rows);
    if (!cell_.state_bias_in_step) bias = build_("Add", {bias, rows_of(build_, view_, in_, kB, d, rows, 2 * rows)});
    return build_("Add", {product, bias});
  }

  Type type_of(ValueId v, bool slice) const {
    Type type = v ? build_.graph().value(v).type : Type();
    if (slice && type.has_rank()) type.shape->erase(type.shape->begin());
    return type;
  }

  /// Y [steps, batch, hidden] and the last states [batch, hidden] of one direction.
  std::vector<ValueId> scan(int64_t d, bool backwards) {
    auto activations = activations_of(view_, static_cast<size_t>(d), cell_.activations);
    if (!activations) return {};
    std::vector<ValueId> operands;
    for (size_t operand : cell_.initial)
      if (operand != 0) operands.push_back(initial(operand, d));
    const size_t states = operands.size();
    // The range for quantization is over the steps with the same number, counted from the end of each entry.
    const bool from_last = backwards && active_mask_;
    if (from_last) backwards = false;
    operands.push_back(from_input(d, from_last));
    if (mask_) operands.push_back(mask_);
    if (active_mask_) operands.push_back(active_mask_);
    if (!build_.status()) return {};
    BodyBuilder body(build_);
    CellStep step{body, view_, in_, d, hidden_, {}, {}, std::move(*activations), {}, {}};
    step.state_weights = [this, d] { return weights_of(kR, d); };
    for (size_t k = 0; k < states; ++k) step.previous_state.push_back(body.input(k == 0 ? "h" : "c", type_of(operands[k], false)));
    step.x = body.input("x", type_of(operands[states], true));
    const ValueId inside = mask_ ? body.input("inside", type_of(mask_, true)) : ValueId{};
    if (active_mask_) step.active_mask = body.input("ran", type_of(active_mask_, true));
    finish(step, inside);
    if (!body.build.status()) return {};
    const Ints directions(operands.size() - states, backwards ? 1 : 0);
    std::vector<ValueId> results = build_.with_body("Scan", operands, states + 1, std::move(body.graph), body.captured,
                                                    {{"num_scan_inputs", static_cast<int64_t>(directions.size())},
                                                     {"scan_input_directions", directions},
                                                     {"scan_output_directions", Ints{backwards ? 1 : 0}}});
    if (results.empty()) return {};
    results.insert(results.begin(), from_last ? reversed_entries(results.back()) : results.back());
    results.pop_back();
    return results;
  }

  /// The step's results: the next states, and h again as a row of Y.
  void finish(const CellStep& step, ValueId inside) {
    std::vector<ValueId> next = cell_.step(step);
    ValueId row = next[0];
    for (size_t k = 0; inside && k < next.size(); ++k) next[k] = step("Where", {inside, next[k], step.previous_state[k]});
    if (inside) row = step("Where", {inside, row, scalar_like(step.body.build, row, 0)});
    else row = step("Identity", {row});
    if (!step.body.build.status()) return;
    for (ValueId v : next) step.body.graph->add_output(v);
    step.body.graph->add_output(row);
  }

  /// Result `k` of all directions: the axis of directions precedes the batch, or follows the steps where the batch comes first.
  ValueId joined(const std::vector<std::vector<ValueId>>& results, size_t k) {
    std::vector<ValueId> parts;
    const int64_t axis = k == 0 ? (batch_first_ ? 2 : 1) : batch_first_ ? 1 : 0;
    for (const std::vector<ValueId>& of : results) {
      const ValueId part = k == 0 && batch_first_ ? transposed(build_, of[k], {1, 0, 2}) : of[k];
      parts.push_back(build_("Unsqueeze", {part, build_.ints({axis})}));
    }
    const ValueId all = parts.size() == 1 ? parts[0] : build_("Concat", parts, {{"axis", axis}});
    return cast_to(build_, all, view_.type(kX).dtype);
  }

  ir::Builder& build_;
  const NodeView& view_;
  std::span<const ValueId> in_;
  const CellDefinition& cell_;
  int64_t hidden_;
  bool batch_first_ = false;
  ValueId x_, mask_;
  ValueId active_mask_;  ///< of a layer whose state is rounded: mask of the entries that ran in the step before, or start
};

}  // namespace

ValueId multiply_weights(ir::Builder& build, ValueId rows, const RowWeights& weights) {
  if (!weights.scale) return build("MatMul", {rows, weights.matrix});
  const std::vector<ValueId> codes = build.many("DynamicQuantizeLinear", {rows}, 3);
  if (codes.size() != 3) return {};
  return scaled_product(build, codes[0], weights.matrix, codes[1], weights.scale, codes[2], weights.zero_point, {});
}

ValueId CellStep::from_state(ValueId h) const {
  const RowWeights weights = state_weights();
  if (active_mask) h = (*this)("Where", {active_mask, h, scalar_like(body.build, h, 0)});
  const auto inside = [&](ValueId v) { return v ? body.capture(v) : v; };
  return multiply_weights(body.build, h, {inside(weights.matrix), inside(weights.scale), inside(weights.zero_point)});
}

ValueId CellStep::gates_of(ValueId row, int64_t begin, int64_t end) const {
  return sliced(body.build, row, 1, begin * hidden, end * hidden);
}

ValueId CellStep::weights(size_t operand, int64_t begin, int64_t end) const {
  return body.capture(rows_of(body.outer, view, in, operand, direction, begin * hidden, end * hidden));
}

ValueId CellStep::activate(size_t k, ValueId sum) const {
  if (view.attributes->has("clip")) {
    const double limit = view.attributes->number("clip", 0);
    sum = (*this)("Clip", {sum, scalar_like(body.build, sum, -limit), scalar_like(body.build, sum, limit)});
  }
  return sum ? activations[k](body.build, sum) : sum;
}

std::vector<ValueId> define_recurrent(ir::Builder& build, const NodeView& view, std::span<const ValueId> in, const CellDefinition& cell) {
  for (size_t k : {kX, kW, kR})
    if (!view.type(k).has_rank() || view.rank(k) != 3) return {};
  if (!view.type(kR).dim(cell.scales[1] ? 1 : 2).is_number()) return {};
  return Layer(build, view, in, cell).run();
}

}  // namespace tenon::ops
