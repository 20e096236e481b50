// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/norm/softmax_rows.h"

namespace tenon::ops::op_log_softmax {

OP(log_softmax) = softmax_op({
    .name = "LogSoftmax",
    .loop_form = [](const NodeView& view) { return softmax_form(view, [](Expr x, Expr sum) { return x - log(sum); }); },
    .reference = [](Call& call) { return softmax_reference(call, [](double shifted, double sum) { return shifted - std::log(sum); }); },
});

}  // namespace tenon::ops::op_log_softmax
