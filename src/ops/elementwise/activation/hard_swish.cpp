// SPDX-License-Identifier: Apache-2.0
#include "base/scalar.h"
#include "ops/definition/precision.h"
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_hard_swish {

OP(hard_swish) {
    .name = "HardSwish",
    .since_version = 22,
    .inputs = {{"input"}},
    .infer = infer_float_unary,
    .loop_form = unary_form<[](Expr x) { return x * max(Expr(0), min(Expr(1), x * Expr(1.0 / 6.0) + Expr(0.5))); }>,
    .reference = unary_reference<[](double x) { return x * maximum(0, minimum(1, x / 6.0 + 0.5)); }>,
    .definition =
        [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
          return define_float_map(build, view, in, [&](ir::ValueId x, DType) {
            return build("Mul", {x, build("HardSigmoid", {x}, {{"alpha", 1.0f / 6}, {"beta", 0.5f}})});
          });
        },
    .first_opset = 14,
    .samples = {{"f32[2,3] in -5..5", "f16[4]", "f64[0]"}},
};

}  // namespace tenon::ops::op_hard_swish
