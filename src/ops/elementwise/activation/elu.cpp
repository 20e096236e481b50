// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/activation/with_alpha.h"

namespace tenon::ops::op_elu {

OP(elu) = alpha_op({
    .name = "Elu",
    .since_version = 22,
    .loop_form = form_with_alpha<[](Expr x, double alpha) { return select(x < Expr(0), Expr(alpha) * expm1(x), x); }>,
    .reference = reference_with_alpha<[](double x, double alpha) { return x < 0 ? alpha * std::expm1(x) : x; }>,
});

}  // namespace tenon::ops::op_elu
