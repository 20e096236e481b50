// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"

namespace tenon::ops {

/// What Ceil, Floor and Round share. `code`: the operation that is the loop's body.
template <ExprOp code>
constexpr OpDef rounding_op(OpDef own) {
  own.inputs = {.made = names<"input">};
  if (!own.infer) {
    own.infer = [](NodeView& view) -> Result<void> {
      TRY(infer_float_unary(view));
      pass_data(view);  // what is known of a float is known to be whole
      return {};
    };
  }
  own.form = unary_of<[](Expr x) { return unary(code, x); }>;
  own.samples = {.made = names<"f32[2,3] in -5..5", "f16[4]", "f64[0]", "f32[7] = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, inf]">};
  return own;
}

}  // namespace tenon::ops
