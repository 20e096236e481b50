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
    .reference =
        [](Call& call) {
          const bool natural = !is_signed(call.in[0]->dtype());  // u64 from 2^63 on is negative as i64
          return each(call, Unary([](double x) { return x > 0   ? 1
                                                        : x < 0 ? -1
                                                                : x; }),
                      IntUnary([natural](int64_t x) { return natural ? int64_t{x != 0} : int64_t{x > 0} - int64_t{x < 0}; }));
        },
    .samples = {{"f32[2,3]", "i64[4]", "f16[3]", "u8[3]", "f64[0]", "u64[3] = [18446744073709551488, 0, 5]", "f32[3] = [-0.0, 0, -inf]"}},
};

}  // namespace tenon::ops::op_sign
