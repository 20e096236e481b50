// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/activation/with_alpha.h"

namespace tenon::ops::op_thresholded_relu {

OP(thresholded_relu) = alpha_op({
    .name = "ThresholdedRelu",
    .since_version = 22,
    .loop_form = form_with_alpha<[](Expr x, double alpha) { return select(Expr(alpha) < x, x, Expr(0)); }>,
    .reference = reference_with_alpha<[](double x, double alpha) { return x > alpha ? x : 0; }>,
    .first_opset = 10,
    .samples = {.array = literals<"f32[2,3]", "f16[4]", "f64[0]", "f32[5]; alpha=0.5", "f32[5] = [nan, -inf, inf, -0.0, -1]">},
});

}  // namespace tenon::ops::op_thresholded_relu
