// SPDX-License-Identifier: Apache-2.0
#include "ops/form_helpers.h"
#include "ops/reference_helpers.h"

namespace tenon::ops {

OP(p_relu) {
    .name = "PRelu",
    .since = 16,
    .inputs = {"x", "slope"},
    .infer = [](NodeView& view) -> Result<void> {
      for (size_t k : {0, 1}) TRY(require_dtype(view, k, is_number, "a numeric dtype"));
      TRY(require_same_dtype(view, 0, 1));
      if (ranks_known(view, {0, 1})) TRY(require_spreads(view, *view.type(1).shape, *view.type(0).shape, "sizes of slope and of X"));
      return same_shape_and_dtype(view);
    },
    .form = binary_of<[](Expr x, Expr slope) { return select(x < Expr(0), slope * x, x); }>,
    .reference =
        [](Call& call) {
          return each(call, Binary([](double x, double slope) { return x < 0 ? slope * x : x; }),
                      IntBinary([](int64_t x, int64_t slope) { return x < 0 ? wrap_mul(slope, x) : x; }),
                      UnsignedBinary([](uint64_t x, uint64_t) { return x; }));
        },
    .samples = {"f32[2,3], f32[3]", "f32[2,3,4], f32[3,1]", "f16[4], f16[1]", "f64[0], f64[1]", "i32[4], i32[4]"},
};

}  // namespace tenon::ops
