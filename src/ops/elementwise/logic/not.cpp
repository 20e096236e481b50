// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_not {

OP(not) {
    .name = "Not",
    .since_version = 1,
    .inputs = {{"x"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_dtype(view, 0, is_bool, "bool"));
      TRY(infer_same_type(view));
      propagate_data(view, [](Dim d) { return std::optional(equal_to(d, 0)); });
      return {};
    },
    .loop_form = unary_form<[](Expr x) { return logical_not(x); }>,
    .reference = [](Call& call) { return map_elements(call, FloatUnary(), [](int64_t x) { return int64_t{x == 0}; }); },
    .samples = {{"bool[2,3]", "bool[0]", "bool[]"}},
};

}  // namespace tenon::ops::op_not
