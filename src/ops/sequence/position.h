// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// The operand is a position: one i32 or i64, of rank 0 or 1. Errors: dtype_mismatch, rank_mismatch, shape_mismatch.
Result<void> require_position(const NodeView& view, size_t input);
/// Position `input` in a sequence of `length`, counted from the end where negative; `most` may be reached. Errors: index_out_of_range.
Result<int64_t> position_of(const Call& call, size_t input, int64_t length, int64_t most);

}  // namespace tenon::ops
