// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <limits>

#include "base/checked.h"
#include "codegen/lower/attention/attention_keys.h"
#include "codegen/lower/attention/attention_parts.h"
#include "codegen/lower/attention/attention_scores.h"

namespace tenon::codegen {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A tile of queries of one head: `vectors` vectors of queries, of which the first `valid` exist.
struct QueryTile {
  AttentionPoint head;                         ///< batch and heads of the tile; its other axes are kNone
  Reg first = kNone, valid = kNone;            ///< number of the first query; how many exist
  Reg end = kNone;                             ///< one past the last query of the head or sequence
  Reg first_key = kNone, end_of_keys = kNone;  ///< range of the keys, or of the task's part of them
  Reg tile = kNone, slot = kNone;              ///< number of the tile, and of its part among all parts, where keys are split among tasks
  int vectors = 0;
  std::vector<QueryLanes> lanes = {};
  KeyRange keys = {};
};

/// The kernels of attention.
enum class AttentionForm : uint8_t {
  queries,      ///< queries lie along the lanes
  join,         ///< adds up the parts of `queries`
  few_queries,  ///< keys lie along the lanes
  join_few,     ///< adds up the ranges of `few_queries`
};

/// State that the parts of an attention lowering share: the nest and its sizes, buffers and places of operands, and scratch memory of a
/// tile of queries.
struct AttentionCode {
  /// few: of the forms for few queries.
  AttentionCode(Kernel& kernel, const Plan& plan, const Target& target, const AttentionTactic& tactic, const Nest& nest, const Group& group,
                const KeyParts& parts, AttentionForm form, const std::optional<FewQueries>& few = {});

  bool joins() const { return form == AttentionForm::join || form == AttentionForm::join_few; }
  bool is_for_few() const { return form == AttentionForm::few_queries || form == AttentionForm::join_few; }

  TileBuilder& build() { return emit.build(); }
  int lanes() const { return emit.lanes(); }
  /// Queries of the tile, those beyond `valid` included.
  int64_t width(const QueryTile& q) const { return int64_t{q.vectors} * lanes(); }
  Dim extent(int axis) const { return nest.axes[axis].extent; }
  Reg number(int64_t v) { return emit.integer(v); }
  Reg real(double v);  ///< an f32 scalar constant
  Reg vector(double v) { return build().splat(real(v), lanes()); }
  /// base + index * step
  Reg at(Reg base, Reg index, int64_t step) { return build().add(base, build().mul(index, number(step))); }
  /// The number within the tile of the first query of vector `vector`.
  Reg place_of(int vector) { return number(int64_t{vector} * lanes()); }
  /// Loads a vector of `buffer` from element `place` on.
  Reg load(int32_t buffer, Reg place) { return build().load(buffer, place, lanes()); }
  /// Loads a vector of query, key or value as f32.
  Reg load_wide(int operand, Reg place, const MemoryOptions& how) {
    return build().expr(ExprOp::cast, {build().load(operands[operand], place, lanes(), how)}, DType::f32);
  }
  /// The keys that are visible to queries `first` to `last` of a head.
  KeyRange visible_key_range(Reg first, Reg last, const AttentionPoint& head);
  /// Whether keys (1) or values (2) are stored in fewer bits than f32.
  bool is_narrow(int operand) const { return nest.accesses[static_cast<size_t>(operand)].dtype != DType::f32; }
  /// Elements of a row of `wide`.
  int64_t wide_row(int operand) const { return round_up(operand == 1 ? head_size : value_size, int64_t{emit.lanes()}); }

  KernelEmitter emit;
  const Nest& nest;
  const Tile tile;
  const KeyParts parts;
  const AttentionForm form;
  const int value_scale;                               ///< access with a factor of each value's weight; -1: none
  const bool in_order;                                 ///< keys are summed in ranges, see kKeysOfARange
  const std::optional<VisibleKeys> visible;            ///< none for ragged attention
  Affine places[3], result;                            ///< places of query, key and value, and of the result
  int64_t head_size = 0, value_size = 0;               ///< elements of a query or key, and of a value
  int64_t padded_value_size = 0;                       ///< value_size, rounded up to whole panels
  int32_t operands[3] = {}, starts[2] = {}, out = -1;  ///< argument buffers; starts: of ragged attention
  int32_t part_sums = -1, part_weights = -1;           ///< argument buffers with results of parts, see part_shapes
  std::optional<AttentionScores> scores_of;
  // Scratch memory: [head size][queries], [keys of a block][queries] (scores, then weights), [queries][value], and one number for each
  // query.
  int32_t scaled_query = -1, scores = -1, sums = -1, maxima = -1, totals = -1, factors = -1, part_factors = -1;
  int32_t wide[3] = {-1, -1, -1};  ///< keys and values of a range as f32, [keys][elements], where they are stored in fewer bits
  // Of few queries instead: [rows][head size], [head size][keys of a panel], [rows][keys of a range].
  int32_t panel_of_keys = -1;
  int vectors_of_panel = 0;     ///< of keys
  int64_t scores_of_a_row = 0;  ///< keys of a range, rounded up to whole panels
  Result<void> status;

 private:
  void take_buffers(const Group& group);
  void take_scratch(int64_t keys_of_a_block);
  void take_scratch_for_few(int rows);
};

}  // namespace tenon::codegen
