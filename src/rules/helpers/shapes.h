// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "rewrite/match.h"

namespace tenon::rules {

/// The operand of a Reshape that makes `to` of a value of shape `from`: numbers, 0 where the dim of the same axis is copied, and
/// at most one -1. nullopt where that does not say it (two symbolic dims that moved, a size of 0, unknown ranks).
std::optional<ir::Ints> reshape_target(const DimList& from, const DimList& to);
std::optional<ir::Ints> reshape_target(const rewrite::GraphQuery& query, ir::ValueId from, ir::ValueId to);

/// True where `small` broadcasts to exactly `large` (each of its dims, from the last, is 1 or the same).
bool broadcasts_to(const DimList& small, const DimList& large);

/// Reshape, Squeeze, Unsqueeze, Flatten: other dims around the same elements in the same order.
bool is_reshape(const ir::Node& node);

/// What lies between two shapes that differ by ones alone.
struct UnitAxes {
  ir::Ints axes;  ///< of the longer shape, ascending
  bool added;     ///< the second one has them, else the first
};
/// nullopt where another dim differs, or some ones are added and others gone. Equal shapes: no axes.
std::optional<UnitAxes> ones_between(const DimList& from, const DimList& to);

/// Permutation of a Transpose; the reversed order where the attribute is missing. nullopt where the rank is not known.
std::optional<ir::Ints> permutation(const rewrite::GraphQuery& query, ir::NodeId transpose);

/// Does a Transpose move axes of size 1 alone? Then elements keep their order.
bool moves_ones(const rewrite::GraphQuery& query, ir::NodeId transpose);

}  // namespace tenon::rules
