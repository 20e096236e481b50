// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/analysis/contraction.h"
#include "codegen/analysis/places.h"
#include "codegen/cost/tactic.h"

namespace tenon::codegen {

/// How register tiles walk a contraction: its roles with axes joined, and every place that moves with them, affine in the nest's axes.
struct Tiling {
  Contraction roles;
  Affine rows;                  ///< of the rows operand
  std::optional<Affine> scale;  ///< of the scale that multiplies it
  std::vector<Affine> results;  ///< of the epilogue where it runs on the tile, else of the sum
  bool with_epilogue = false;   ///< the group's epilogue runs on the tile; else it is a kernel of its own
  std::vector<EpilogueRead> reads = {};
  int columns = 1;  ///< of the sum's lanes, which the epilogue reads side by side
};

/// nullopt where the group has no roles, a place is not affine, or the lanes do not join into one axis (the result is cut into panels as
/// one product). Where only the epilogue is the reason, the tiling is that of the sum alone (with_epilogue is false).
std::optional<Tiling> tiling_of(const Group& group, const Plan& plan);

/// Of the rows operand as [rows..., depth], contiguous, over the nest's axes.
Affine dense_rows_place(const Contraction& roles, const Nest& nest);

/// How many lines (see lines_of in contract_cost.h) a tile of this tiling contains.
int lines_of(const Tiling& tiling, Tile tile);

/// Whether groups of products can read the rows operand: its innermost depth is contiguous, and consists of whole groups. Integers may have
/// a last group that reads beyond the row: these elements are multiplied by zeros (floats could be NaN there).
bool walks_groups(const Tiling& tiling);

}  // namespace tenon::codegen
