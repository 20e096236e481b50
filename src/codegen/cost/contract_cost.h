// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/cost/tactic.h"
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Share of the multiply-adds' peak that a register tile of that height reaches in its loop: sums that wait for each other and the packed
/// operand's way from the second-level cache are what holds it back. Within 5 % of bench/microkernel.cpp's figures.
double tile_share(int rows, int vectors, const Target& target, const MultiplyAdd& form);
inline double tile_share(int rows, int vectors, const Target& target) { return tile_share(rows, vectors, target, target.of_f32()); }

/// Cycles for each product of one row and one lane, with the rows and lanes that tiles compute in vain: of `rows` x `lanes` sums, of which
/// nullopt is known at the run only (then there are many).
double cycles_per_product(Tile tile, std::optional<int64_t> rows, std::optional<int64_t> lanes, const Target& target,
                          const MultiplyAdd& form);

/// How many steps of the rows' last axis but one a tile takes: several where rows of the last fill at most half of it, such as those of an
/// image of 7 x 7.
int lines_of(Tile tile, const std::vector<JointAxis>& rows);

/// How a contraction is cut by default.
ContractTactic contract_tactic(const Group& group, const Target& target);

}  // namespace tenon::codegen
