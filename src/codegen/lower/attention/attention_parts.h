// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/lower/kernel.h"

namespace tenon::codegen {

/// Where heads and queries are few, the keys of a tile of queries are dealt out to several tasks. Each leaves what it has summed up, its
/// maxima and its totals, and a second kernel joins them (Flash-Decoding; Dao, Haziza, Massa and Sizov, 2023).
struct KeyParts {
  Dim tiles = 1;  ///< tiles of queries, of all heads
  Dim parts = 1;  ///< of the keys of each

  bool several() const { return !(parts == Dim(1)); }
  /// Tiles whose parts are to be joined.
  Dim tasks_of_join() const { return select(less_than(Dim(1), parts), tiles, Dim(0)); }
};

/// What the tactic says for that nest: there are several parts where tiles are fewer than its `split`, of no fewer keys than its `least`.
KeyParts key_parts(const Nest& nest, const Group& group, const AttentionTactic& tactic, const Plan& plan, const Target& target);
/// Of AttentionGroup::part_sums and part_weights, f32, a line for each part of each tile: queries x values; maxima and totals of the
/// queries. Nothing is kept where a run has one part.
struct PartShapes {
  DimList sums, weights;
};
PartShapes part_shapes(const KeyParts& parts, const Nest& nest, Tile tile, const Target& target);

/// Values of a query in a tile's sums, filled up to whole panels.
int64_t padded_values(const Nest& nest, Tile tile, const Target& target);

}  // namespace tenon::codegen
