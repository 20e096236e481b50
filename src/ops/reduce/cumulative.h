// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/reduce/reduction.h"

namespace tenon::ops {

/// What CumSum and CumProd share: running combinations along the axis given by operand 1.
Result<void> infer_cumulative(NodeView& view);
/// Errors: not_supported where the axis is not constant.
Result<LoopForm> cumulative_form(const NodeView& view, Combine combine);
Result<void> cumulative_reference(Call& call, int64_t identity, double (*number)(double, double), int64_t (*integer)(int64_t, int64_t));

}  // namespace tenon::ops
