// SPDX-License-Identifier: Apache-2.0
#include "ops/form/form.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_mean {

OP(mean) {
    .name = "Mean",
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
      return e / Expr(static_cast<double>(x.size()));
    }>,
    .reference =
        [](Call& call) {
          return fold(call, Binary([](double a, double b) { return a + b; }), IntBinary(), UnsignedBinary(),
                      [](double v, size_t n) { return v / static_cast<double>(n); });
        },
    .samples = {"f32[2,3], f32[2,3]", "f32[3], f32[2,1], f32[1]", "f16[4], f16[]", "f64[0], f64[1]", "f32[2]"},
};

}  // namespace tenon::ops::op_mean
