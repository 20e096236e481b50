// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "ops/core/refuse.h"
#include "ops/infer/types.h"

namespace tenon::ops {

/// Maps an axis in -rank..rank-1 to 0..rank-1. Errors: axis_out_of_range.
Result<int> normalise_axis(const NodeView& view, int64_t axis, int rank);
/// The same for several axes; sorted where requested. Errors: axis_out_of_range, bad_attribute (a repeated axis).
Result<std::vector<int>> normalise_axes(const NodeView& view, const Ints& axes, int rank, bool sorted = true);
/// Attribute `axis` (default `otherwise`) as an axis of operand 0; 0 where its rank is unknown. Errors: axis_out_of_range.
Result<int> axis_attribute(const NodeView& view, int64_t otherwise = -1);

}  // namespace tenon::ops
