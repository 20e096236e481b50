// SPDX-License-Identifier: Apache-2.0
#include "base/scalar.h"
#include "ops/definition/precision.h"
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_mish {

OP(mish) {
    .name = "Mish",
    .since_version = 22,
    .inputs = {{"input"}},
    .infer = infer_float_unary,
    .loop_form = unary_form<[](Expr x) { return x * tanh(max(x, Expr(0)) + log1p(exp(-abs(x)))); }>,
    .reference = unary_reference<[](double x) { return x * std::tanh(std::log1p(std::exp(-std::fabs(x))) + maximum(x, 0)); }>,
    .definition =
        [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
          return define_float_map(build, view, in,
                                  [&](ir::ValueId x, DType) { return build("Mul", {x, build("Tanh", {build("Softplus", {x})})}); });
        },
    .first_opset = 18,
    .samples = {{"f32[2,3]", "f16[4]", "f64[0]", "f64[]", "bf16[5]"}},
};

}  // namespace tenon::ops::op_mish
