// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "ir/builder.h"

namespace tenon::ops {

// Pieces that definitions in plain ops are built from. What follows from a constant by moving elements alone becomes a lazy constant:
// no node, and a weight stays one that a kernel can pack.

/// Elements begin .. end of one axis; `x` has a known rank, the numbers lie in the axis.
ir::ValueId part_of(ir::Builder& build, ir::ValueId x, int axis, int64_t begin, int64_t end);
/// Drops `axis`, whose size is 1.
ir::ValueId without_axis(ir::Builder& build, ir::ValueId x, int axis);
ir::ValueId transposed(ir::Builder& build, ir::ValueId x, std::vector<int64_t> order);
/// The sizes [begin, end) of a tensor: i64[end - begin].
ir::ValueId sizes_of(ir::Builder& build, ir::ValueId x, int64_t begin, int64_t end);
/// The size of one axis as an i64 of rank 0.
ir::ValueId size_of(ir::Builder& build, ir::ValueId x, int64_t axis);
/// 0, 1, ..., end - 1; end: i64 of rank 0.
ir::ValueId counting(ir::Builder& build, ir::ValueId end);
/// [] of the dtype that `like` has.
ir::ValueId number_like(ir::Builder& build, ir::ValueId like, double value);
ir::ValueId cast_to(ir::Builder& build, ir::ValueId x, DType dtype);

}  // namespace tenon::ops
