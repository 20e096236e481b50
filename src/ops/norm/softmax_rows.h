// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/reduce/reduction.h"

namespace tenon::ops {

inline constexpr Names kSoftmaxSamples = {
    "f32[2,3,4]", "f32[2,3,4]; axis=1",  "f32[2,3,4]; axis=0", "f32[5]",   "f16[3,33]",
    "f64[2,7]",   "f32[2,3] in 80..200", "f32[0,4]",           "f32[3,1]", "f32[4] = [0, -inf, 1, -inf]"};

/// Same type; axis inside the rank.
Result<void> infer_softmax(NodeView& view);
/// Loops: the row's maximum, the sum of exp(x - maximum), and a map: finish(x - maximum, sum).
Result<LoopForm> softmax_form(const NodeView& view, Expr (*finish)(Expr shifted, Expr sum));
/// Calls `row` with each row along the axis, to be changed in place.
Result<void> softmax_reference(Call& call, void (*row)(std::span<double>));

}  // namespace tenon::ops
