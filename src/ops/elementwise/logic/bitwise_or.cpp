// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_bitwise_or {

OP(bitwise_or) {
    .name = "BitwiseOr",
    .since_version = 18,
    .inputs = {{"a", "b"}},
    .commutative = true,
    .infer = [](NodeView& view) { return infer_binary(view, is_integer); },
    .loop_form = binary_form<[](Expr a, Expr b) { return binary(ExprOp::bit_or, a, b); }>,
    .reference =
        [](Call& call) { return map_elements(call, FloatBinary(), IntBinary([](int64_t a, int64_t b) -> int64_t { return a | b; })); },
    .first_opset = 18,
    .samples = {{"i32[2,3], i32[2,3]", "u8[2,1], u8[3]", "i64[0], i64[1]", "u64[2] = [18446744073709551615, 7], u64[2] = [3, 7]",
                 "i16[4], i16[]"}},
};

}  // namespace tenon::ops::op_bitwise_or
