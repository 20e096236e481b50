// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/reduction.h"

namespace tenon::ops::op_reduce_min {

OP(reduce_min) = extreme_reduce_op({
    .name = "ReduceMin",
    .loop_form =
        [](const NodeView& view) {
          return form_of_reduce(view, view.type(0).dtype == DType::boolean ? Combine::logical_and : Combine::min);
        },
    .reference = [](Call& call) { return reference_of_extreme(call, false); },
});

}  // namespace tenon::ops::op_reduce_min
