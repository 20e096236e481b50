// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/reduce/reduction.h"

namespace tenon::ops::op_reduce_l1 {

OP(reduce_l1) = reduce_op({
    .name = "ReduceL1",
    .since_version = 18,
    .loop_form = [](const NodeView& view) { return form_of_reduce(view, Combine::sum, [](Expr x) { return abs(x); }); },
    .reference = fold_rows<0,
                           [](auto total, auto x) {
                             if constexpr (std::is_floating_point_v<decltype(x)>) return plus(total, std::fabs(x));
                             else return plus(total, x < 0 ? times(x, -1) : x);
                           }>,
});

}  // namespace tenon::ops::op_reduce_l1
