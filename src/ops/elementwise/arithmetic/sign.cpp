// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_sign {

OP(sign) {
    .name = "Sign",
    .since = 13,
    .inputs = {{"input"}},
    .infer = infer_number_unary,
    .form = unary_of<[](Expr x) { return unary(ExprOp::sign, x); }>,
    .reference = number_reference<[](double x) { return x > 0   ? 1
                                                        : x < 0 ? -1
                                                                : x; },
                                  [](int64_t x) { return static_cast<int64_t>((x > 0) - (x < 0)); }>,
    .samples = {{"f32[2,3]", "i64[4]", "f16[3]", "u8[3]", "f64[0]", "f32[3] = [-0.0, 0, -inf]"}},
};

}  // namespace tenon::ops::op_sign
