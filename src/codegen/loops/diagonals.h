// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "codegen/loops/nest.h"

namespace tenon::codegen {

/// Two axes of a map, the first one outside, on which it depends through the difference of their numbers alone: all elements of a
/// diagonal are equal.
struct Diagonal {
  int row = 0, column = 0;
};
/// nullopt where no two axes are so. Cost: linear in the map's expressions, a pair of axes.
std::optional<Diagonal> diagonal_of(const Nest& map);

/// Stores such a map as one element a diagonal (a relative position bias, a causal mask), so that its memory grows with the sum of
/// the two sizes and not with their product.
/// Needs: one nest a group; the arithmetic of a value in one body, so not before `inline_maps`.  Promises: readers see the same numbers.
/// Not after `choose_layouts`: the arrays change their rank.
void store_diagonals(Plan& plan);

}  // namespace tenon::codegen
