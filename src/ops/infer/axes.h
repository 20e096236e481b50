// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "ops/core/refuse.h"
#include "ops/infer/types.h"

namespace tenon::ops {

/// -rank..rank-1 to 0..rank-1. Errors: axis_out_of_range.
Result<int> normal_axis(const NodeView& view, int64_t axis, int rank);
/// The same for many; sorted where requested. Errors: axis_out_of_range, bad_attribute (a repeated axis).
Result<std::vector<int>> normal_axes(const NodeView& view, const Ints& axes, int rank, bool sorted = true);
/// Attribute `axis` (default `otherwise`) of operand 0. Errors: axis_out_of_range.
Result<int> axis_attribute(const NodeView& view, int64_t otherwise = -1);

}  // namespace tenon::ops
