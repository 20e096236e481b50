// SPDX-License-Identifier: Apache-2.0
#include "base/scalar.h"
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"
#include "ops/versions/lowest_opset.h"

namespace tenon::ops::op_relu {

OP(relu) {
    .name = "Relu",
    .since_version = 14,
    .inputs = {{"input"}},
    .infer = infer_signed_unary,
    .loop_form = unary_form<[](Expr x) { return max(x, Expr(0)); }>,
    .reference = number_reference<[](double x) { return maximum(x, 0); }, [](int64_t x) { return std::max<int64_t>(x, 0); }>,
    .lowest_opset = lowest_opset_of_integers<14>,
    .samples = {{"f32[2,3]", "f16[4]", "f64[0]", "f64[]", "i32[3]", "i8[3]", "f32[3] = [nan, -inf, inf]"}},
};

}  // namespace tenon::ops::op_relu
