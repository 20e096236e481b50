// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"
#include "ops/versions/adapters.h"
#include "ops/versions/lowest_opset.h"

namespace tenon::ops::op_add {

OP(add) {
    .name = "Add",
    .since_version = 14,
    .inputs = {{"a", "b"}},
    .commutative = true,
    .infer = [](NodeView& view) -> Result<void> {
      TRY(infer_binary(view));
      propagate_data(view, [](Dim a, Dim b) -> std::optional<Dim> { return a + b; });
      return {};
    },
    .loop_form = binary_form<[](Expr a, Expr b) { return a + b; }>,
    .reference =
        [](Call& call) {
          return map_elements(call, FloatBinary([](double a, double b) -> double { return a + b; }),
                              IntBinary([](int64_t a, int64_t b) -> int64_t { return wrap_add(a, b); }));
        },
    .upgrade = broadcast_upgrade,
    .lowest_opset = lowest_opset_of_arithmetic,
    .samples = {{"f32[2,3], f32[2,3]", "f32[2,3], f32[3]", "f32[2,1], f32[1,3]", "f16[4], f16[]", "f64[0], f64[1]", "f64[], f64[]",
                 "i64[2,2], i64[2]", "i32[3], i32[3]", "u8[3], u8[3]", "f32[2,1,4], f32[3,1]"}},
};

}  // namespace tenon::ops::op_add
