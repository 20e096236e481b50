// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// The operand is a position in a sequence: one i32 or i64, of rank 0 or 1. Errors: dtype_mismatch, rank_mismatch, shape_mismatch.
Result<void> require_position(const NodeView& view, size_t input);
/// The position that operand `input` gives, negative ones counted from the end of a sequence of `length`; at most `most`. Errors:
/// index_out_of_range.
Result<int64_t> position_of(const Call& call, size_t input, int64_t length, int64_t most);

}  // namespace tenon::ops
