// SPDX-License-Identifier: Apache-2.0
#include "ops/form/form.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_ceil {

OP(ceil) {
    .name = "Ceil",
    .since = 13,
    .inputs = {"input"},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(infer_float_unary(view));
      pass_data(view);  // what is known of a float is known to be whole
      return {};
    },
    .form = unary_of<[](Expr x) { return unary(ExprOp::ceil, x); }>,
    .reference = unary_reference<[](double x) { return std::ceil(x); }>,
    .samples = {"f32[2,3] in -5..5", "f16[4]", "f64[0]", "f32[7] = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, inf]"},
};

}  // namespace tenon::ops::op_ceil
