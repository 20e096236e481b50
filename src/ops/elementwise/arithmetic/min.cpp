// SPDX-License-Identifier: Apache-2.0
#include "base/scalar.h"
#include "ops/form/form.h"
#include "ops/reference/map.h"
#include "ops/versions/versions.h"

namespace tenon::ops::op_min {

OP(min) {
    .name = "Min",
    .since = 13,
    .inputs = {"data_0", "data*"},
    .commutative = true,
    .infer = [](NodeView& view) -> Result<void> {
      TRY(infer_variadic(view, is_number));
      if (view.inputs.size() == 2) propagate(view, [](Dim a, Dim b) { return std::optional(min(a, b)); });
      if (view.inputs.size() == 1) pass_data(view);
      return {};
    },
    .form = map_of<[](std::span<const Expr> x) {
      Expr e = x[0];
      for (size_t i = 1; i < x.size(); ++i) e = min(e, x[i]);
      return e;
    }>,
    .reference =
        [](Call& call) {
          return fold(call, Binary(minimum), IntBinary([](int64_t a, int64_t b) { return std::min(a, b); }),
                      UnsignedBinary([](uint64_t a, uint64_t b) { return std::min(a, b); }));
        },
    .lowest_opset = integers_from<12>,
    .samples = {"f32[2,3], f32[2,3]", "f32[3], f32[2,1], f32[1]", "f16[4], f16[]", "f64[0], f64[1]", "f32[2]", "i64[3], i64[3]",
                "u8[2], u8[2]", "i32[], i32[2], i32[2]", "u64[2] = [18446744073709551615, 7], u64[2] = [3, 9]",
                "f32[3] = [nan, 1, inf], f32[3] = [1, nan, -inf]"},
};

}  // namespace tenon::ops::op_min
