// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// Stacks tensors of one shape along a new axis `axis`. Of no tensors: an empty one of `dtype` whose elements have the shape `empty`.
Result<Tensor> stacked(const NodeView& view, const std::vector<Tensor>& parts, int64_t axis, DType dtype, Sizes empty);
/// The slice at `index` of `axis`, without that axis.
Result<Tensor> slice_at(const Tensor& from, int64_t axis, int64_t index);

}  // namespace tenon::ops
