// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/reduction.h"

namespace tenon::ops::op_reduce_sum {

OP(reduce_sum) = reduce_op({
    .name = "ReduceSum",
    .since_version = 13,
    .loop_form = [](const NodeView& view) { return form_of_reduce(view, Combine::sum); },
    .reference = fold_rows<0, [](auto total, auto x) { return plus(total, x); }>,
    .lowest_opset = lowest_opset_of_reduce<13>,
});

}  // namespace tenon::ops::op_reduce_sum
