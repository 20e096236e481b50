// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_abs {

OP(abs) {
    .name = "Abs",
    .since_version = 13,
    .inputs = {{"input"}},
    .infer = infer_number_unary,
    .loop_form = unary_form<[](Expr x) { return unary(ExprOp::abs, x); }>,
    .reference =
        [](Call& call) {
          const bool is_unsigned = !is_signed(call.in[0]->dtype());  // u64 from 2^63 on is negative as i64
          return map_elements(call, FloatUnary([](double x) { return std::fabs(x); }),
                              IntUnary([is_unsigned](int64_t x) { return is_unsigned || x >= 0 ? x : wrap_sub(0, x); }));
        },
    .samples = {{"f32[2,3]", "u8[3]", "i64[4]", "i32[2,2]", "f16[3]", "i8[3] = [-128, 0, 127]", "u64[2] = [18446744073709551488, 5]",
                 "f64[0]", "f32[4] = [nan, -inf, inf, -0.0]"}},
};

}  // namespace tenon::ops::op_abs
