// SPDX-License-Identifier: Apache-2.0
#include "base/scalar.h"
#include "ops/elementwise/arithmetic/variadic.h"
#include "ops/form/loops.h"
#include "ops/reference/map.h"
#include "ops/versions/lowest_opset.h"

namespace tenon::ops::op_max {

OP(max) = variadic_op({
    .name = "Max",
    .infer = [](NodeView& view) -> Result<void> {
      TRY(infer_variadic(view, is_number));
      if (view.inputs.size() == 2) propagate_data(view, [](Dim a, Dim b) { return std::optional(max(a, b)); });
      if (view.inputs.size() == 1) pass_data(view);
      return {};
    },
    .loop_form = map_form<joined<[](Expr a, Expr b) { return max(a, b); }>>,
    .reference =
        [](Call& call) {
          return combine_operands(call, FloatBinary(maximum), IntBinary([](int64_t a, int64_t b) { return std::max(a, b); }),
                                  UnsignedBinary([](uint64_t a, uint64_t b) { return std::max(a, b); }));
        },
    .lowest_opset = [](const NodeView& view) { return std::max(lowest_opset_of_integers<12>(view), lowest_opset_of_shapes(view)); },
    .samples = kOrderedSamples,
});

}  // namespace tenon::ops::op_max
