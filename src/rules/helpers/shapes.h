// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "rewrite/match.h"

namespace tenon::rules {

/// The shape operand with which a Reshape brings a value of shape `from` to the shape `to`: numbers, 0 where the dim of the same axis is
/// copied, and at most one -1. nullopt where there is no such operand (two symbolic dims that moved, a size of 0, unknown ranks).
std::optional<ir::Ints> reshape_target(const DimList& from, const DimList& to);
std::optional<ir::Ints> reshape_target(const rewrite::GraphQuery& query, ir::ValueId from, ir::ValueId to);

/// True where `small` broadcasts to exactly `large` (each of its dims, from the last, is 1 or the same).
bool broadcasts_to(const DimList& small, const DimList& large);

/// Reshape, Squeeze, Unsqueeze, Flatten: other dims around the same elements in the same order.
bool is_reshape(const ir::Node& node);

/// The axes of size 1 by which two shapes differ.
struct UnitAxes {
  ir::Ints axes;  ///< of the longer shape, ascending
  bool added;     ///< the second shape has them, else the first
};
/// nullopt where another dim differs, or both shapes have such axes. Equal shapes: no axes.
std::optional<UnitAxes> unit_axes_between(const DimList& from, const DimList& to);

/// Permutation of a Transpose; the reversed order where the attribute is missing. nullopt where the rank is not known.
std::optional<ir::Ints> permutation(const rewrite::GraphQuery& query, ir::NodeId transpose);

/// Whether a Transpose moves only axes of size 1, so that the elements keep their order.
bool moves_only_unit_axes(const rewrite::GraphQuery& query, ir::NodeId transpose);

}  // namespace tenon::rules
