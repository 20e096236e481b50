// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/reduction.h"

namespace tenon::ops::op_reduce_prod {

OP(reduce_prod) = reduce_op({
    .name = "ReduceProd",
    .since_version = 18,
    .loop_form = [](const NodeView& view) { return form_of_reduce(view, Combine::product); },
    .reference = fold_rows<1, [](auto total, auto x) { return times(total, x); }>,
});

}  // namespace tenon::ops::op_reduce_prod
