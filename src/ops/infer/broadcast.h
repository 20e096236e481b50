// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"

namespace tenon::ops {

/// numpy broadcasting of one pair of sizes: 1 gives the other; a number other than 1 beats a symbol; two symbols that
/// may differ give their max (each is then 1 or that), or 0 where one of them is. nullopt where it cannot be.
std::optional<Dim> broadcast(Dim a, Dim b);
/// Axis by axis from the right; what cannot be decided is assumed. Errors: shape_mismatch.
Result<DimList> broadcast(const NodeView& view, const DimList& a, const DimList& b);
/// Over all given operands (missing ones are skipped); nullopt where a rank is unknown.
Result<std::optional<DimList>> broadcast_inputs(const NodeView& view, size_t first, size_t count);
/// Elements of an operand, broadcast to `to`; nullopt where they or the operand's sizes are not known, or are too many.
std::optional<ShapeData> broadcast_elements(const NodeView& view, size_t input, const DimList& to);

}  // namespace tenon::ops
