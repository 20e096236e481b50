// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "ir/builder.h"

namespace tenon::ops {

// Builders of plain ops for definitions. On a constant operand, an op that only moves elements becomes a lazy constant instead of a node,
// so that a weight stays a constant that a kernel can pack.

/// Slice: elements [begin, end) of one axis. `x` has a known rank; 0 <= begin <= end <= size.
ir::ValueId sliced(ir::Builder& build, ir::ValueId x, int axis, int64_t begin, int64_t end);
/// Squeeze: drops `axis`, whose size is 1.
ir::ValueId squeezed(ir::Builder& build, ir::ValueId x, int axis);
/// Transpose with `perm` = order.
ir::ValueId transposed(ir::Builder& build, ir::ValueId x, std::vector<int64_t> order);
/// Shape: the sizes of axes [begin, end) of a tensor: i64[end - begin].
ir::ValueId shape_of(ir::Builder& build, ir::ValueId x, int64_t begin, int64_t end);
/// The size of one axis as an i64 of rank 0.
ir::ValueId size_of(ir::Builder& build, ir::ValueId x, int64_t axis);
/// Range: i64[end] with elements 0, 1, ..., end - 1. end: i64 of rank 0.
ir::ValueId iota(ir::Builder& build, ir::ValueId end);
/// A constant of rank 0 with the dtype of `like`; none where `like` is none.
ir::ValueId scalar_like(ir::Builder& build, ir::ValueId like, double value);
/// Cast; x itself where it has that dtype.
ir::ValueId cast_to(ir::Builder& build, ir::ValueId x, DType dtype);

}  // namespace tenon::ops
