// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/reduce/reduction.h"

namespace tenon::ops {

/// Same type; axis inside the rank.
Result<void> infer_softmax(NodeView& view);
/// Loops: the row's maximum, the sum of exp(x - maximum), and a map: finish(x - maximum, sum).
Result<LoopForm> softmax_form(const NodeView& view, Expr (*finish)(Expr shifted, Expr sum));
/// Calls `row` with each row along the axis, to be changed in place.
Result<void> each_row_in_place(Call& call, const std::function<void(std::span<double>)>& row);
/// Every x of each row becomes finish(x - the row's maximum, sum of exp of those).
Result<void> softmax_reference(Call& call, double (*finish)(double shifted, double sum));

/// What Softmax, LogSoftmax and Hardmax share; name, form and reference are their own.
constexpr OpDef softmax_op(OpDef own) {
  own.since = 13;
  own.inputs = {.made = names<"input">};
  own.attributes = {.made = names<"axis: int = -1">};
  own.infer = infer_softmax;
  own.upgrade = upgrade_flattened_axis;
  own.lowest_opset = [](const NodeView& view) { return view.type(0).has_rank() ? 7 : 13; };
  own.downgrade = axis_downgrade;
  own.samples = {.made = names<"f32[2,3,4]", "f32[2,3,4]; axis=1", "f32[2,3,4]; axis=0", "f32[5]", "f16[3,33]", "f64[2,7]",
                               "f32[2,3] in 80..200", "f32[0,4]", "f32[3,1]", "f32[4] = [0, -inf, 1, -inf]">};
  return own;
}

}  // namespace tenon::ops
