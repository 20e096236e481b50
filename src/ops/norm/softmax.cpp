// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/norm/softmax_rows.h"

namespace tenon::ops::op_softmax {

OP(softmax) = softmax_op({
    .name = "Softmax",
    .loop_form = [](const NodeView& view) { return softmax_form(view, [](Expr x, Expr sum) { return exp(x) / sum; }); },
    .reference = [](Call& call) { return softmax_reference(call, [](double shifted, double sum) { return std::exp(shifted) / sum; }); },
});

}  // namespace tenon::ops::op_softmax
