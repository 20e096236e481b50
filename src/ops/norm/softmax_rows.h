// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/reduce/reduction.h"

namespace tenon::ops {

/// Result 0 has the type of operand 0; checks attribute `axis`.
Result<void> infer_softmax(NodeView& view);
/// Three loops: the row's maximum, the sum of exp(x - maximum), and a map finish(x - maximum, sum).
Result<LoopForm> softmax_form(const NodeView& view, Expr (*finish)(Expr shifted, Expr sum));
/// Calls `row` with each row of operand 0 along the axis; what it writes there becomes result 0.
Result<void> each_row_in_place(Call& call, const std::function<void(std::span<double>)>& row);
/// Replaces every x of a row by finish(x - maximum, sum of exp(x - maximum)).
Result<void> softmax_reference(Call& call, double (*finish)(double shifted, double sum));

/// The fields that Softmax, LogSoftmax and Hardmax share; `own` has name, loop_form and reference.
constexpr OpDef softmax_op(OpDef own) {
  own.since_version = 13;
  own.inputs = {.array = literals<"input">};
  own.attributes = {.array = literals<"axis: int = -1">};
  own.infer = infer_softmax;
  own.upgrade = upgrade_flattened_axis;
  own.lowest_opset = [](const NodeView& view) { return view.type(0).has_rank() ? 7 : 13; };
  own.downgrade = downgrade_flattened_axis;
  own.samples = {.array = literals<"f32[2,3,4]", "f32[2,3,4]; axis=1", "f32[2,3,4]; axis=0", "f32[5]", "f16[3,33]", "f64[2,7]",
                                   "f32[2,3] in 80..200", "f32[0,4]", "f32[3,1]", "f32[4] = [0, -inf, 1, -inf]">};
  return own;
}

}  // namespace tenon::ops
