// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "ops/spatial/global_pool.h"

namespace tenon::ops::op_global_average_pool {

OP(global_average_pool) = global_pool_op({
    .name = "GlobalAveragePool",
    .loop_form =
        [](const NodeView& view) {
          return form_of_global_pool(view, Combine::sum, /*before=*/nullptr, [](Expr sum, Expr count) { return sum / count; });
        },
    .reference =
        [](Call& call) {
          return reference_of_global_pool(
              call, [](std::span<const double> x) { return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size()); });
        },
});

}  // namespace tenon::ops::op_global_average_pool
