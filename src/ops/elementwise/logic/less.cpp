// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"
#include "ops/versions/adapters.h"

namespace tenon::ops::op_less {

OP(less) {
    .name = "Less",
    .since_version = 13,
    .inputs = {{"a", "b"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(infer_comparison(view, is_number));
      propagate_data(view, [](Dim a, Dim b) -> std::optional<Dim> { return less_than(a, b); });
      return {};
    },
    .loop_form = binary_form<[](Expr a, Expr b) { return a < b; }>,
    .reference =
        [](Call& call) {
          return map_elements(call, FloatBinary([](double a, double b) -> double { return a < b; }),
                              IntBinary([](int64_t a, int64_t b) -> int64_t { return a < b; }),
                              UnsignedBinary([](uint64_t a, uint64_t b) -> uint64_t { return a < b; }));
        },
    .upgrade = broadcast_upgrade,
    .samples = {{"f32[2,3], f32[2,3]", "f32[2,1], f32[1,3]", "f64[0], f64[1]", "i64[4], i64[4]", "u8[3], u8[]",
                 "u64[2] = [18446744073709551615, 7], u64[2] = [3, 7]", "f16[3] = [nan, inf, 1], f16[3] = [nan, inf, 1]",
                 "i32[5] in 0..2, i32[5] in 0..2"}},
};

}  // namespace tenon::ops::op_less
