// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <optional>

#include "codegen/analysis/attention.h"
#include "codegen/lower/kernel_emitter.h"

namespace tenon::codegen {

/// A register for each axis of attention; kNone stands for 0.
using AttentionPoint = std::array<Reg, kAttentionAxes>;

/// The element number of an affine place at that point.
Reg element_at(KernelEmitter& emit, const Affine& place, const AttentionPoint& point);

/// A vector of queries, or of keys, one a lane.
struct QueryLanes {
  Reg first = kNone;   ///< i64 scalar: number of the first one
  Reg all = kNone;     ///< i64 vector: number of the one in each lane; lanes beyond the last one repeat it
  Reg inside = kNone;  ///< mask of the lanes that hold one
};

/// Emits scores as the attention nest defines them (masked, capped), for one key and a vector of queries. Subexpressions of the key alone
/// are computed once for all its queries, those of the queries alone once for all keys.
class AttentionScores {
 public:
  /// along: kQuery, or kKey, whose numbers lie along the lanes.
  AttentionScores(KernelEmitter& emit, const Nest& nest, AttentionAxis along = kQuery);

  /// Emits the subexpressions that do not depend on keys, for later code in the same block. point[kQuery] and point[kKey] are not used.
  Result<void> enter_queries(const Expr& score, const AttentionPoint& point, std::vector<QueryLanes> queries);
  /// Starts a new key: forgets the subexpressions of the last one.
  void enter_key() { of_key_.clear(); }
  /// Emits the score for vector number `vector` of the queries. Expr::input(0) in `score` is `product`.
  Result<Reg> value(const Expr& score, const AttentionPoint& point, size_t vector, Reg product);
  /// Emits the score for one query, at `point`, and a vector of keys.
  Result<Reg> value_of_keys(const Expr& score, const AttentionPoint& point, const QueryLanes& keys, Reg product);
  /// Emits one number over loads of the nest: an i64 that depends on the batch alone, or what depends on batch, key head and key.
  Result<Reg> number_at(const Expr& e, const AttentionPoint& point);

 private:
  using Memo = decltype(KernelEmitter::EvalContext::memo);

  TileBuilder& build() { return emit_.build(); }
  bool depends_on_key(const Expr& e) const;
  Result<void> evaluate_free(const Expr& e, KernelEmitter::EvalContext& context);
  KernelEmitter::EvalContext context_of(const AttentionPoint& point, const QueryLanes& queries) const;
  Result<Reg> load(int access, const AttentionPoint& point, const QueryLanes& queries, KernelEmitter::EvalContext& context);
  Result<Reg> load_within(int access, Reg offset, MemoryOptions how, const QueryLanes& queries, KernelEmitter::EvalContext& context);
  Reg load_lanes(int access, Reg offset, MemoryOptions how, Reg mask);

  KernelEmitter& emit_;
  const Nest& nest_;
  const AttentionAxis along_;
  std::vector<std::optional<Affine>> places_;
  std::vector<int32_t> buffers_;  ///< of accesses 3 and on
  std::vector<QueryLanes> queries_;
  std::vector<Memo> of_queries_;
  Memo of_key_;
};

}  // namespace tenon::codegen
