// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_bitwise_not {

OP(bitwise_not) {
    .name = "BitwiseNot",
    .since_version = 18,
    .inputs = {{"x"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_dtype(view, 0, is_integer, "an integer dtype"));
      return infer_same_type(view);
    },
    .loop_form = unary_form<[](Expr x) { return unary(ExprOp::bit_not, x); }>,
    .reference = [](Call& call) { return map_elements(call, FloatUnary(), [](int64_t x) { return ~x; }); },
    .first_opset = 18,
    .samples = {{"i32[2,3]", "u8[4]", "i64[0]", "u64[2]"}},
};

}  // namespace tenon::ops::op_bitwise_not
