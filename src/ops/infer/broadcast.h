// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"

namespace tenon::ops {

/// numpy broadcasting of one pair of sizes: 1 and a size give that size; a symbol and a number other than 1 give the number; two symbols
/// that may differ give their max (each is then 1 or that), or 0 where one of them is 0. nullopt where the sizes cannot be broadcast.
std::optional<Dim> broadcast(Dim a, Dim b);
/// Broadcasts two shapes, aligned at the right; what cannot be decided is assumed. Errors: shape_mismatch.
Result<DimList> broadcast(const NodeView& view, const DimList& a, const DimList& b);
/// The shape to which operands first .. first + count - 1 are broadcast (missing ones are skipped); nullopt where a rank is unknown.
Result<std::optional<DimList>> broadcast_inputs(const NodeView& view, size_t first, size_t count);
/// The known elements of an operand, broadcast to `to`; nullopt where they or the operand's sizes are not known, or are too many.
std::optional<ShapeData> broadcast_elements(const NodeView& view, size_t input, const DimList& to);

}  // namespace tenon::ops
