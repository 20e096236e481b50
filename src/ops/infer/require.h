// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/infer/infer.h"

namespace tenon::ops {

// What inference asks of an operand so that a reference function may trust it. A missing operand, or one of unknown rank, passes: before a
// reference is called inference runs once more on the operands that are there.

/// One element, whatever the rank. Errors: shape_mismatch.
Result<void> require_single(const NodeView& view, size_t input);
/// Broadcasts to `to` without widening it. Errors: shape_mismatch.
Result<void> require_broadcast(const NodeView& view, size_t input, const DimList& to);
/// The sizes are `wanted`. Errors: rank_mismatch, shape_mismatch.
Result<void> require_sizes(const NodeView& view, size_t input, const DimList& wanted);
/// One element, or a vector of `count`. Errors: rank_mismatch, shape_mismatch.
Result<void> require_single_or(const NodeView& view, size_t input, Dim count);

}  // namespace tenon::ops
