// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "codegen/emit.h"

namespace tenon::codegen {

/// A register tile of the contraction: rows of A times vectors of B.
struct Tile {
  int rows, vectors;
};

/// Tiles of an ISA, the best for large M first. rows * vectors accumulators, one row of B and one splat fit its registers.
std::span<const Tile> tiles_of(const Target& target);

/// The tile for `rows` rows of A (0: not known, many) against `columns` columns of B (0: many): the fewest passes over B, balanced.
/// B's panels are two vectors wide whatever the rows, so that one packing serves every row count known at run time only.
Tile tile_for(const Target& target, int64_t rows, int64_t columns = 0);

}  // namespace tenon::codegen
