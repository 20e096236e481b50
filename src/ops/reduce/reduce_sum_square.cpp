// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/reduction.h"

namespace tenon::ops::op_reduce_sum_square {

OP(reduce_sum_square) = reduce_op({
    .name = "ReduceSumSquare",
    .since_version = 18,
    .loop_form = [](const NodeView& view) { return form_of_reduce(view, Combine::sum, [](Expr x) { return x * x; }); },
    .reference = fold_rows<0, [](auto total, auto x) { return plus(total, times(x, x)); }>,
});

}  // namespace tenon::ops::op_reduce_sum_square
