// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/arithmetic/variadic.h"
#include "ops/form/loops.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_sum {

OP(sum) = variadic_op({
    .name = "Sum",
    .loop_form = map_form<joined<[](Expr a, Expr b) { return a + b; }>>,
    .reference =
        [](Call& call) {
          return combine_operands(call, FloatBinary([](double a, double b) { return a + b; }), IntBinary(), UnsignedBinary());
        },
});

}  // namespace tenon::ops::op_sum
