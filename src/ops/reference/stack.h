// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// Joins equally shaped tensors on a new axis `axis`; none: `empty` (element type and sizes) says what.
Result<Tensor> stacked(const NodeView& view, const std::vector<Tensor>& parts, int64_t axis, DType dtype, Sizes empty);
/// Slice `index` of `axis`, the axis dropped.
Result<Tensor> sliced(const Tensor& from, int64_t axis, int64_t index);

}  // namespace tenon::ops
