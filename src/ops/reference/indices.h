// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "base/checked.h"
#include "ops/core/op.h"

namespace tenon::ops {

/// Row-major strides in elements.
Sizes strides_of(const Sizes& shape);
int64_t count_of(const Sizes& shape);
/// Position of `index` in a row-major tensor.
int64_t offset_of(const Sizes& index, const Sizes& strides);
/// The index of a row-major position.
Sizes index_of(int64_t position, const Sizes& shape);
/// Advances to the next index in row-major order; false after the last one. Start with all zeros, where count_of(shape) > 0.
bool next_index(Sizes& index, const Sizes& shape);
/// numpy broadcasting of shapes of numbers. Errors: shape_mismatch.
Result<Sizes> broadcast_sizes(const NodeView& view, const Sizes& a, const Sizes& b);
/// Strides with which a tensor of shape `from` is read in the index space `to`: 0 where it is broadcast.
Sizes broadcast_strides(const Sizes& from, const Sizes& to);
/// Maps an axis in -rank..rank-1 to 0..rank-1; false where it is out of range.
bool wrap_axis(int64_t& axis, int64_t rank);
/// Maps an index in -size..size-1 to 0..size-1. Errors: index_out_of_range.
Result<int64_t> wrap_index(const NodeView& view, int64_t index, int64_t size);

}  // namespace tenon::ops
