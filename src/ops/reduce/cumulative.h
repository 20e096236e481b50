// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/reduce/reduction.h"

namespace tenon::ops {

// CumSum and CumProd: running combinations along the axis that operand 1 gives.

Result<void> infer_cumulative(NodeView& view);
/// Errors: not_supported where the axis is not constant.
Result<LoopForm> cumulative_form(const NodeView& view, Combine combine);
Result<void> cumulative_reference(Call& call, int64_t identity, double (*number)(double, double), int64_t (*integer)(int64_t, int64_t));

/// The fields that CumSum and CumProd share.
constexpr OpDef cumulative_op(OpDef own) {
  own.inputs = {.array = literals<"x", "axis">};
  own.outputs = {.array = literals<"y">};
  own.attributes = {.array = literals<"exclusive: int = 0", "reverse: int = 0">};
  own.infer = infer_cumulative;
  own.samples = {
      .array = literals<"f32[5], i64[] = 0", "f32[2,3,4], i64[] = 1", "f32[2,3], i32[] = -1; exclusive=1", "f32[2,3], i64[] = 0; reverse=1",
                        "f64[4], i64[] = 0; exclusive=1, reverse=1", "i64[2,3], i64[] = 1", "f32[0,2], i64[] = 0", "i32[6], i64[] = 0">};
  return own;
}

}  // namespace tenon::ops
