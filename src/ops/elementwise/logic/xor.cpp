// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"
#include "ops/versions/adapters.h"

namespace tenon::ops::op_xor {

OP(xor) {
           .name = "Xor",
           .since_version = 7,
           .inputs = {{"a", "b"}},
           .commutative = true,
           .infer = [](NodeView& view) -> Result<void> {
             TRY(infer_binary(view, is_bool));
             propagate_data(view, [](Dim a, Dim b) -> std::optional<Dim> { return 1 - equal_to(a, b); });
             return {};
           },
           .loop_form = binary_form<[](Expr a, Expr b) { return binary(ExprOp::logical_xor, a, b); }>,
           .reference =
               [](Call& call) {
                 return map_elements(call, FloatBinary(), IntBinary([](int64_t a, int64_t b) -> int64_t { return (a != 0) != (b != 0); }));
               },
           .upgrade = broadcast_upgrade,
           .samples = {{"bool[2,3], bool[2,3]", "bool[2,1], bool[3]", "bool[0], bool[1]", "bool[], bool[]"}},
};

}  // namespace tenon::ops::op_xor
