// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/cumulative.h"

namespace tenon::ops::op_cum_prod {

OP(cum_prod) = cumulative_op({
    .name = "CumProd",
    .since_version = 26,
    .loop_form = [](const NodeView& view) { return cumulative_form(view, Combine::product); },
    .reference = [](Call& call) { return cumulative_reference(call, 1, [](double a, double b) { return a * b; }, wrap_mul); },
    .first_opset = 26,
});

}  // namespace tenon::ops::op_cum_prod
