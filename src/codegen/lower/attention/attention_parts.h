// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/lower/kernel.h"

namespace tenon::codegen {

/// Where heads and queries are few, the keys of a tile of queries are split among several tasks. Each stores its sums, maxima and totals,
/// and a second kernel adds them up (Flash-Decoding; Dao, Haziza, Massa and Sizov, 2023).
struct KeyParts {
  Dim tiles = 1;  ///< tiles of queries of all heads
  Dim parts = 1;  ///< parts of the keys of a tile

  bool several() const { return !(parts == Dim(1)); }
  /// Tasks of the second kernel: one for each tile; 0 where a run has one part.
  Dim tasks_of_join() const { return select(less_than(Dim(1), parts), tiles, Dim(0)); }
};

/// How the tactic splits the keys of that nest: where there are fewer tiles than its `split`, into parts of at least `least` keys.
KeyParts key_parts(const Nest& nest, const Group& group, const AttentionTactic& tactic, const Plan& plan, const Target& target);
/// Shapes of AttentionGroup::part_sums and part_weights, f32. Each has a row for each part of each tile: sums of [queries][values]; maxima,
/// then totals, of the queries. No rows where a run has one part.
struct PartShapes {
  DimList sums, weights;
};
PartShapes part_shapes(const KeyParts& parts, const Nest& nest, Tile tile, const Target& target);

/// Elements of a value in a tile's sums: rounded up to whole panels.
int64_t padded_values(const Nest& nest, Tile tile, const Target& target);

}  // namespace tenon::codegen
