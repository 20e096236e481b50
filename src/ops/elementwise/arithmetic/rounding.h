// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"

namespace tenon::ops {

/// The fields that Ceil, Floor and Round share. `code`: the operator that computes an element.
template <ExprOp code>
constexpr OpDef rounding_op(OpDef own) {
  own.inputs = {.array = literals<"input">};
  if (!own.infer) {
    own.infer = [](NodeView& view) -> Result<void> {
      TRY(infer_float_unary(view));
      pass_data(view);  // known elements of floats are whole numbers
      return {};
    };
  }
  own.loop_form = unary_form<[](Expr x) { return unary(code, x); }>;
  own.samples = {.array = literals<"f32[2,3] in -5..5", "f16[4]", "f64[0]", "f32[7] = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, inf]">};
  return own;
}

}  // namespace tenon::ops
