// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_abs {

OP(abs) {
    .name = "Abs",
    .since = 13,
    .inputs = {{"input"}},
    .infer = infer_number_unary,
    .form = unary_of<[](Expr x) { return unary(ExprOp::abs, x); }>,
    .reference = number_reference<[](double x) { return std::fabs(x); }, [](int64_t x) { return x < 0 ? wrap_sub(0, x) : x; }>,
    .samples = {{"f32[2,3]", "u8[3]", "i64[4]", "i32[2,2]", "f16[3]", "i8[3] = [-128, 0, 127]", "f64[0]",
                 "f32[4] = [nan, -inf, inf, -0.0]"}},
};

}  // namespace tenon::ops::op_abs
