// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numeric>

#include "base/scalar.h"
#include "ops/spatial/global_pool.h"

namespace tenon::ops::op_global_max_pool {

OP(global_max_pool) = global_pool_op({
    .name = "GlobalMaxPool",
    .loop_form =
        [](const NodeView& view) {
          return form_of_global_pool(view, Combine::max, /*before=*/nullptr, [](Expr top, Expr) { return top; });
        },
    .reference =
        [](Call& call) {
          return reference_of_global_pool(
              call, [](std::span<const double> x) { return std::accumulate(x.begin(), x.end(), -double{INFINITY}, maximum); });
        },
});

}  // namespace tenon::ops::op_global_max_pool
