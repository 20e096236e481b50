// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_sign {

OP(sign) {
    .name = "Sign",
    .since_version = 13,
    .inputs = {{"input"}},
    .infer = infer_number_unary,
    .loop_form = unary_form<[](Expr x) { return unary(ExprOp::sign, x); }>,
    .reference =
        [](Call& call) {
          const bool is_unsigned = !is_signed(call.in[0]->dtype());  // u64 from 2^63 on is negative as i64
          return map_elements(call, FloatUnary([](double x) { return x > 0   ? 1
                                                                     : x < 0 ? -1
                                                                             : x; }), IntUnary([is_unsigned](int64_t x) {
                                return is_unsigned ? int64_t{x != 0} : int64_t{x > 0} - int64_t{x < 0};
                              }));
        },
    .samples = {{"f32[2,3]", "i64[4]", "f16[3]", "u8[3]", "f64[0]", "u64[3] = [18446744073709551488, 0, 5]", "f32[3] = [-0.0, 0, -inf]"}},
};

}  // namespace tenon::ops::op_sign
