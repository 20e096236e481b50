// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/spatial/global_pool.h"
#include "ops/spatial/lp_norm.h"

namespace tenon::ops::op_global_lp_pool {

namespace {

Result<LoopForm> loop_form(const NodeView& view) {
  const int64_t p = view.attributes->integer("p", 2);
  return form_of_global_pool(
      view, Combine::sum, [p](Expr x) { return power_of(abs(x), p); }, [p](Expr sum, Expr) { return root_of(sum, p); });
}

Result<void> evaluate(Call& call) {
  const double p = static_cast<double>(call.view.attributes->integer("p", 2));
  return reference_of_global_pool(call, [p](std::span<const double> x) { return norm_of(x, p); });
}

}  // namespace

OP(global_lp_pool) = global_pool_op({
    .name = "GlobalLpPool",
    .attributes = {.array = literals<"p: int = 2">},
    .loop_form = loop_form,
    .reference = evaluate,
    .upgrade = integer_p_upgrade,
    .samples = {.array = literals<"f32[1,3,5,5]", "f32[2,3,7]", "f16[1,2,4,4]", "f64[2,1,2,3,2]", "f32[2,3,1,1]", "f32[1,2,3,3]; p=1",
                                  "f32[1,2,3,3]; p=3">},
});

}  // namespace tenon::ops::op_global_lp_pool
