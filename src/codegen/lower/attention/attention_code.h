// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <limits>

#include "codegen/lower/attention/attention_keys.h"
#include "codegen/lower/attention/attention_parts.h"
#include "codegen/lower/attention/attention_scores.h"

namespace tenon::codegen {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Queries of one head: `vectors` vectors, of which `valid` queries are there.
struct Queries {
  AttentionPoint head;
  Reg first = kNone, valid = kNone;
  Reg end = kNone;                             ///< behind the last query
  Reg first_key = kNone, end_of_keys = kNone;  ///< those that are there, or the task's part of them
  Reg tile = kNone, slot = kNone;              ///< numbers of the tile, and of the part of all parts, where there are several
  int vectors = 0;
  std::vector<QueryLanes> lanes = {};
  KeyRange keys = {};
};

/// What the pieces of an attention kernel share: the nest and its sizes, where operands stand, and what is kept of a tile of queries while
/// its keys pass.
struct AttentionCode {
  /// joins: of the kernel behind the one that leaves the sums of parts.
  AttentionCode(Kernel& kernel, const Plan& plan, const Target& target, const AttentionTactic& tactic, const Nest& nest, const Group& group,
                const KeyParts& parts, bool joins);

  TileBuilder& build() { return emit.build(); }
  int lanes() const { return emit.lanes(); }
  int64_t width(const Queries& q) const { return int64_t{q.vectors} * lanes(); }
  Dim extent(int axis) const { return nest.axes[axis].extent; }
  Reg number(int64_t v) { return emit.integer(v); }
  Reg real(double v);
  Reg vector(double v) { return build().splat(real(v), lanes()); }
  /// base + index * step
  Reg at(Reg base, Reg index, int64_t step) { return build().add(base, build().mul(index, number(step))); }
  /// The first query of the vector of that number.
  Reg place_of(int vector) { return number(int64_t{vector} * lanes()); }
  /// A vector.
  Reg load(int32_t buffer, Reg place) { return build().load(buffer, place, lanes()); }

  KernelEmitter emit;
  const Nest& nest;
  const Tile tile;
  const KeyParts parts;
  const std::optional<VisibleKeys> visible;  ///< not of packed sequences
  Affine places[3], result;                  ///< of query, key and value; of the result
  int64_t head = 0, value = 0, value_pad = 0;
  int32_t operands[3] = {}, starts[2] = {}, out = -1;  ///< starts: of packed sequences
  int32_t left_sums = -1, left_weights = -1;           ///< of parts
  std::optional<AttentionScores> scores_of;
  // Scratch memory: [head size][queries], [keys of a block][queries] (scores, then weights), [queries][values], and of each query a number.
  int32_t scaled_query = -1, scores = -1, sums = -1, maxima = -1, totals = -1, factors = -1, part_factors = -1;
  Result<void> status;

 private:
  void take_buffers(const Group& group, bool joins);
  void take_scratch(int64_t keys_of_a_block, bool joins);
};

}  // namespace tenon::codegen
