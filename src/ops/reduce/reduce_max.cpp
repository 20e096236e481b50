// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/reduction.h"

namespace tenon::ops::op_reduce_max {

OP(reduce_max) = extreme_reduce_op({
    .name = "ReduceMax",
    .loop_form =
        [](const NodeView& view) {
          return form_of_reduce(view, view.type(0).dtype == DType::boolean ? Combine::logical_or : Combine::max);
        },
    .reference = [](Call& call) { return reference_of_extreme(call, true); },
});

}  // namespace tenon::ops::op_reduce_max
