// SPDX-License-Identifier: Apache-2.0
#include "ops/form/form.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_sum {

OP(sum) {
    .name = "Sum",
    .since = 13,
    .inputs = {"data_0", "data*"},
    .commutative = true,
    .infer = [](NodeView& view) -> Result<void> {
      TRY(infer_variadic(view, is_real_arithmetic));
      return {};
    },
    .form = map_of<[](std::span<const Expr> x) {
      Expr e = x[0];
      for (size_t i = 1; i < x.size(); ++i) e = e + x[i];
      return e;
    }>,
    .reference = [](Call& call) { return fold(call, Binary([](double a, double b) { return a + b; }), IntBinary(), UnsignedBinary()); },
    .samples = {"f32[2,3], f32[2,3]", "f32[3], f32[2,1], f32[1]", "f16[4], f16[]", "f64[0], f64[1]", "f32[2]"},
};

}  // namespace tenon::ops::op_sum
