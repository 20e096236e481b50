// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"
#include "ops/versions/cast_through_f32.h"

namespace tenon::ops::op_is_inf {

OP(is_inf) {
    .name = "IsInf",
    .since_version = 20,
    .inputs = {{"input"}},
    .attributes = {{"detect_negative: int = 1", "detect_positive: int = 1"}},
    .infer = infer_float_predicate,
    .loop_form =
        [](const NodeView& view) {
          const bool low = view.attributes->integer("detect_negative", 1) != 0, high = view.attributes->integer("detect_positive", 1) != 0;
          return map_form(view, [=](std::span<const Expr> in) {
            const Expr x = in[0];
            return low && high ? unary(ExprOp::is_inf, x)
                   : low       ? equal(x, Expr(-INFINITY))
                   : high      ? equal(x, Expr(INFINITY))
                               : logical_and(equal(x, Expr(INFINITY)), equal(x, Expr(0)));
          });
        },
    .reference =
        [](Call& call) {
          const bool low = call.view.attributes->integer("detect_negative", 1) != 0,
                     high = call.view.attributes->integer("detect_positive", 1) != 0;
          return map_elements(call, [=](double x) { return std::isinf(x) && (x < 0 ? low : high) ? 1.0 : 0.0; });
        },
    .first_opset = 10,
    .downgrade = cast_through_f32,  // before opset 20 only f32 and f64 were allowed
    .samples = {{"f32[4] = [inf, -inf, nan, 1]", "f32[3] = [inf, -inf, 0]; detect_negative=0", "f64[3] = [inf, -inf, 0]; detect_positive=0",
                 "f16[3]", "f32[0]"}},
};

}  // namespace tenon::ops::op_is_inf
