// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"
#include "ops/versions/adapters.h"

namespace tenon::ops::op_and {

OP(and) {
    .name = "And",
    .since_version = 7,
    .inputs = {{"a", "b"}},
    .commutative = true,
    .infer = [](NodeView& view) -> Result<void> {
      TRY(infer_binary(view, is_bool));
      propagate_data(view, [](Dim a, Dim b) -> std::optional<Dim> { return a * b; });
      return {};
    },
    .loop_form = binary_form<[](Expr a, Expr b) { return logical_and(a, b); }>,
    .reference =
        [](Call& call) { return map_elements(call, FloatBinary(), IntBinary([](int64_t a, int64_t b) -> int64_t { return a && b; })); },
    .upgrade = broadcast_upgrade,
    .samples = {{"bool[2,3], bool[2,3]", "bool[2,1], bool[3]", "bool[0], bool[1]", "bool[], bool[]"}},
};

}  // namespace tenon::ops::op_and
