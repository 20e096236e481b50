// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Two axes of a map, `row` outside of `column`, on which its value depends only through column - row: all elements of a diagonal are
/// equal.
struct Diagonal {
  int row = 0, column = 0;
};
/// The first such pair of axes; nullopt: there is none. Cost: linear in the map's expressions, for each pair of axes.
std::optional<Diagonal> diagonal_of(const Nest& map);
/// The map with its column axis replaced by column - row + rows. nullopt where it still depends on the row then.
std::optional<Nest> shift_to_diagonals(const Nest& map, Diagonal d);

}  // namespace tenon::codegen
