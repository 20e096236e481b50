// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_neg {

OP(neg) {
    .name = "Neg",
    .since = 13,
    .inputs = {{"input"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(infer_signed_unary(view));
      propagate(view, [](Dim d) { return std::optional(0 - d); });
      return {};
    },
    .form = unary_of<[](Expr x) { return unary(ExprOp::neg, x); }>,
    .reference = number_reference<[](double x) { return -x; }, [](int64_t x) { return wrap_sub(0, x); }>,
    .samples = {{"f32[2,3]", "i64[4]", "i32[2,2]", "f16[3]", "i8[3] = [-128, 0, 127]", "f64[0]", "f32[4] = [nan, -inf, inf, -0.0]"}},
};

}  // namespace tenon::ops::op_neg
