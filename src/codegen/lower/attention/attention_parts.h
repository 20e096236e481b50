// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "codegen/lower/kernel.h"

namespace tenon::codegen {

/// Where heads and queries are few, the keys of a tile of queries are split among several tasks. Each stores its sums, maxima and totals,
/// and a second kernel adds them up (Flash-Decoding; Dao, Haziza, Massa and Sizov, 2023).
struct KeyParts {
  Dim tiles = 1;  ///< tiles of queries of all heads
  Dim parts = 1;  ///< parts of the keys of a tile

  bool several() const { return !(parts == Dim(1)); }
  /// Tasks of the second kernel: one for each tile; 0 where a run has one part.
  Dim join_tasks() const { return select(less_than(Dim(1), parts), tiles, Dim(0)); }
};

/// How the tactic splits the keys of that nest: where there are fewer tiles than its `split`, into parts of at least `least` keys.
KeyParts key_parts(const Nest& nest, const Group& group, const AttentionTactic& tactic, const Plan& plan, const Target& target);
/// Shapes of AttentionGroup::part_sums and part_weights, f32. Each has a row for each part of each tile: sums of [queries][values]; maxima,
/// then totals, of the queries. No rows where a run has one part.
struct PartShapes {
  DimList sums, weights;
};
PartShapes part_shapes(const KeyParts& parts, const Nest& nest, Tile tile, const Target& target);

/// In plans that sum in one order, keys are summed in ranges of so many, which begin at multiples of it; sums of ranges are added in order.
inline constexpr int64_t kKeysOfARange = 256;

/// The form for few queries, in plans that sum in one order: the keys of a range lie along the lanes, and the rows are the heads that share
/// a key head. A task is one range of the keys of one query; a second kernel adds the ranges up. Of a run with more queries than
/// AttentionTactic::few, both have no tasks.
struct FewQueries {
  Dim used;            ///< 1 where a run has few queries, else 0
  int64_t heads = 1;   ///< that share a key head
  int rows = 1;        ///< heads in a task
  int64_t chunks = 1;  ///< tasks for all heads that share a key head
  Dim tiles = 0;       ///< tasks of a range; 0 where the form is not used
  Dim ranges = 1;      ///< ranges of keys
  Dim results = 0;     ///< queries of all heads; 0 where the form is not used

  Dim tasks() const { return tiles * ranges; }
};

/// nullopt where no run of the plan uses it.
std::optional<FewQueries> few_queries(const Nest& nest, const Group& group, const AttentionTactic& tactic, const Plan& plan);
/// Vectors of a register tile with so many rows, at most four: the most for which the target has registers.
int vectors_for(int rows, const Target& target);
/// Shapes of AttentionGroup::part_sums and part_weights for that form: by tile and range, the sums [rows][values]; the maxima, then the
/// totals, of the rows.
PartShapes part_shapes(const FewQueries& few, const Nest& nest, const Target& target);

/// Elements of a value in a tile's sums: rounded up to whole panels.
int64_t padded_values(const Nest& nest, Tile tile, const Target& target);

}  // namespace tenon::codegen
