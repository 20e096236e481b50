// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Two axes of a map, the first one outside, on which it depends through the difference of their numbers alone: all elements of a
/// diagonal are equal.
struct Diagonal {
  int row = 0, column = 0;
};
/// nullopt where no two axes are so. Cost: linear in the map's expressions, a pair of axes.
std::optional<Diagonal> diagonal_of(const Nest& map);
/// The map with its column axis replaced by column - row + rows, where nothing depends on the row then; nullopt where something does.
std::optional<Nest> shift_to_diagonals(const Nest& map, Diagonal d);

}  // namespace tenon::codegen
