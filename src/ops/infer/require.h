// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "ops/core/refuse.h"
#include "ops/infer/types.h"

namespace tenon::ops {

// What is not known passes all of these: a missing operand, an unknown dtype or rank. Sizes that cannot be decided are assumed to fit
// (ir::Assumption) and are checked at run time.

/// The operand's rank lies in [low, high] (high -1: no limit), or is unknown. Errors: rank_mismatch.
Result<void> require_rank(const NodeView& view, size_t input, int low, int high);
inline Result<void> require_rank(const NodeView& view, size_t input, int rank) { return require_rank(view, input, rank, rank); }
/// The operand is missing, of unknown dtype, or `accepted` returns true for it. `wanted`: "a float type". Errors: dtype_mismatch.
Result<void> require_dtype(const NodeView& view, size_t input, bool (*accepted)(DType), std::string_view wanted);
/// Both operands are of one dtype, or one of them is missing or of unknown dtype. Errors: dtype_mismatch.
Result<void> require_same_dtype(const NodeView& view, size_t a, size_t b);
/// Two sizes are equal; where that cannot be decided, it is assumed and checked at run time. `what`: "inner sizes of A and B".
/// Errors: shape_mismatch, naming both.
Result<void> require_equal(const NodeView& view, Dim a, Dim b, std::string_view what);
/// The same for each axis of two shapes of one rank.
Result<void> require_equal(const NodeView& view, const DimList& a, const DimList& b, std::string_view what);
/// `a` is not smaller than `b`; assumed where that cannot be decided. `what`: "the padded input is smaller than its window".
/// Errors: shape_mismatch, naming both.
Result<void> require_at_least(const NodeView& view, Dim a, Dim b, std::string_view what);
/// Unidirectional broadcasting of a size: `from` is `to` or 1. Errors: shape_mismatch, naming both.
Result<void> require_broadcastable(const NodeView& view, Dim from, Dim to, std::string_view what);
/// The same for whole shapes, aligned at the right. Errors: rank_mismatch (`from` has more axes), shape_mismatch.
Result<void> require_broadcastable(const NodeView& view, const DimList& from, const DimList& to, std::string_view what);

// Checks that reference functions rely on. A missing operand, or one of unknown rank, passes: inference runs again on the real operands
// before a reference function is called.

/// The operand has one element, whatever its rank. Errors: shape_mismatch.
Result<void> require_single_element(const NodeView& view, size_t input);
/// The operand can be broadcast to `to` (unidirectionally). Errors: shape_mismatch.
Result<void> require_broadcastable(const NodeView& view, size_t input, const DimList& to);
/// The operand has the shape `wanted`. Errors: rank_mismatch, shape_mismatch.
Result<void> require_sizes(const NodeView& view, size_t input, const DimList& wanted);
/// The operand has one element, or is a vector of `count`. Errors: rank_mismatch, shape_mismatch.
Result<void> require_single_element_or(const NodeView& view, size_t input, Dim count);

}  // namespace tenon::ops
