// SPDX-License-Identifier: Apache-2.0
#include "base/scalar.h"
#include "ops/elementwise/activation/with_alpha.h"

namespace tenon::ops::op_celu {

OP(celu) = alpha_op({
    .name = "Celu",
    .since_version = 28,
    .loop_form = form_with_alpha<[](Expr x, double alpha) { return max(x, Expr(0)) + min(Expr(0), Expr(alpha) * expm1(x / Expr(alpha))); }>,
    .reference = reference_with_alpha<[](double x, double alpha) { return maximum(0, x) + minimum(0, alpha * std::expm1(x / alpha)); }>,
    .first_opset = 12,
});

}  // namespace tenon::ops::op_celu
