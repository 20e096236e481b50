// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/arithmetic/variadic.h"
#include "ops/form/loops.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_mean {

OP(mean) = variadic_op({
    .name = "Mean",
    .loop_form = map_form<[](std::span<const Expr> x) {
      return joined<[](Expr a, Expr b) { return a + b; }>(x) / Expr(static_cast<double>(x.size()));
    }>,
    .reference =
        [](Call& call) {
          return combine_operands(call, FloatBinary([](double a, double b) { return a + b; }), IntBinary(), UnsignedBinary(),
                                  [](double v, size_t n) { return v / static_cast<double>(n); });
        },
});

}  // namespace tenon::ops::op_mean
