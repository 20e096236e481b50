// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_bitwise_not {

OP(bitwise_not) {
    .name = "BitwiseNot",
    .since = 18,
    .inputs = {{"x"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_dtype(view, 0, is_integer, "an integer dtype"));
      return same_shape_and_dtype(view);
    },
    .form = unary_of<[](Expr x) { return unary(ExprOp::bit_not, x); }>,
    .reference = [](Call& call) { return each(call, Unary(), [](int64_t x) { return ~x; }); },
    .first = 18,
    .samples = {{"i32[2,3]", "u8[4]", "i64[0]", "u64[2]"}},
};

}  // namespace tenon::ops::op_bitwise_not
