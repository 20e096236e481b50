// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/emit.h"

namespace tenon::codegen {

/// A register tile of the contraction: rows of A times vectors of B. It keeps rows * vectors accumulators, one row of B and one splat.
struct Tile {
  int rows, vectors;
};

/// The tile of contractions: one pass over the weights for short inputs, and at the peak for long ones.
Tile contract_tile(const Target& target);
/// The tile of attention's two products, whose rows are queries of one head.
Tile attention_tile(const Target& target);
/// So many floating point operations of either pay for handing them to another thread.
inline constexpr int64_t kFlopsWorthAThread = 1 << 18;

}  // namespace tenon::codegen
