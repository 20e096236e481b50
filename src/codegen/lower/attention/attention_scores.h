// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <optional>

#include "codegen/analysis/attention.h"
#include "codegen/lower/kernel_emitter.h"

namespace tenon::codegen {

/// A register for each axis of attention; kNone stands for 0.
using AttentionPoint = std::array<Reg, kAttentionAxes>;

/// Element number of an affine place at that point.
Reg element_at(KernelEmitter& emit, const Affine& place, const AttentionPoint& point);

/// A vector of queries, one a lane.
struct QueryLanes {
  Reg first = kNone;   ///< number of the first
  Reg all = kNone;     ///< of each; lanes beyond the last query repeat it
  Reg inside = kNone;  ///< mask of the lanes that hold one
};

/// Scores as the attention's nest defines them (masked, capped), of one key and a vector of queries. What depends on the key alone is
/// computed once for all its queries, and what depends on the queries alone once for all keys.
class AttentionScores {
 public:
  AttentionScores(KernelEmitter& emit, const Nest& nest);

  /// Computes here what the keys have no part in, for all code that comes inside the same block. point[kQuery] and point[kKey] are not
  /// looked at.
  Result<void> enter_queries(const Expr& score, const AttentionPoint& point, std::vector<QueryLanes> queries);
  void enter_key() { of_key_.clear(); }
  /// `score`: over the nest's accesses, Expr::input(0) being `product`, of the queries' vector of that number.
  Result<Reg> value(const Expr& score, const AttentionPoint& point, size_t vector, Reg product);

 private:
  using Memo = decltype(KernelEmitter::Place::memo);

  TileBuilder& build() { return emit_.build(); }
  bool depends_on_key(const Expr& e) const;
  Result<void> evaluate_free(const Expr& e, KernelEmitter::Place& place);
  KernelEmitter::Place place_of(const AttentionPoint& point, const QueryLanes& queries) const;
  Result<Reg> load(int access, const AttentionPoint& point, const QueryLanes& queries, KernelEmitter::Place& place);
  Result<Reg> load_within(int access, Reg offset, MemoryOptions how, const QueryLanes& queries, KernelEmitter::Place& place);
  Reg load_lanes(int access, Reg offset, MemoryOptions how, Reg mask);

  KernelEmitter& emit_;
  const Nest& nest_;
  std::vector<std::optional<Affine>> places_;
  std::vector<int32_t> buffers_;  ///< of accesses 3 and on
  std::vector<QueryLanes> queries_;
  std::vector<Memo> of_queries_;
  Memo of_key_;
};

}  // namespace tenon::codegen
