// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/cost/tactic.h"
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// The share of the peak of its multiply-adds that a register tile reaches. It is limited by the latency of sums and by reads of the packed
/// operand from the second-level cache. Within 5 % of bench/microkernel.cpp's figures.
double tile_share(int rows, int vectors, const Target& target, const MultiplyAdd& form);
inline double tile_share(int rows, int vectors, const Target& target) { return tile_share(rows, vectors, target, target.of_f32()); }

/// Cycles for one product of a row and a lane, including rows and lanes that tiles compute as padding. rows, lanes: of the result; nullopt:
/// known only at run time, and assumed to be many.
double cycles_per_product(Tile tile, std::optional<int64_t> rows, std::optional<int64_t> lanes, const Target& target,
                          const MultiplyAdd& form);

/// How many lines a tile contains, where a line is all steps of the rows' last axis: several where a line fills at most half of a tile,
/// such as a row of an image of 7 x 7; else 1, and the tile contains a part of a line.
int lines_of(Tile tile, const std::vector<JointAxis>& rows);

/// Of products with an operand in blocks.
Tile tile_of_blocks(const Target& target);

/// The default tactic of a contraction.
ContractTactic contract_tactic(const Group& group, const Target& target);

}  // namespace tenon::codegen
