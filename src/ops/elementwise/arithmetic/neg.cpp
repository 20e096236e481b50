// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_neg {

OP(neg) {
    .name = "Neg",
    .since_version = 13,
    .inputs = {{"input"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(infer_signed_unary(view));
      const bool signs_zero = is_float(view.outputs[0].dtype);  // a Dim has no -0
      propagate_data(view,
                     [signs_zero](Dim d) { return signs_zero && d.lower() <= 0 && d.upper() >= 0 ? std::nullopt : std::optional(0 - d); });
      return {};
    },
    .loop_form = unary_form<[](Expr x) { return unary(ExprOp::neg, x); }>,
    .reference = number_reference<[](double x) { return -x; }, [](int64_t x) { return wrap_sub(0, x); }>,
    .samples = {{"f32[2,3]", "i64[4]", "i32[2,2]", "f16[3]", "i8[3] = [-128, 0, 127]", "f64[0]", "f32[4] = [nan, -inf, inf, -0.0]"}},
};

}  // namespace tenon::ops::op_neg
