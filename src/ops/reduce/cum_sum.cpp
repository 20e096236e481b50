// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/cumulative.h"
#include "ops/versions/cast_through_f32.h"

namespace tenon::ops::op_cum_sum {

OP(cum_sum) = cumulative_op({
    .name = "CumSum",
    .since_version = 14,
    .loop_form = [](const NodeView& view) { return cumulative_form(view, Combine::sum); },
    .reference = [](Call& call) { return cumulative_reference(call, 0, [](double a, double b) { return a + b; }, wrap_add); },
    .first_opset = 11,
    .downgrade = cast_through_f32,  // before opset 14 there were no short floats
});

}  // namespace tenon::ops::op_cum_sum
