// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/attention/attention_parts.h"

#include <algorithm>

#include "base/checked.h"
#include "codegen/analysis/attention.h"
#include "codegen/analysis/visible_keys.h"

namespace tenon::codegen {

int64_t padded_values(const Nest& nest, Tile tile, const Target& target) {
  return round_up(nest.axes[kValueSize].extent.value(), int64_t{tile.vectors} * target.lanes());
}

KeyParts key_parts(const Nest& nest, const Group& group, const AttentionTactic& tactic, const Plan& plan, const Target& target) {
  const int64_t queries = int64_t{tactic.tile.vectors} * target.lanes();
  const auto extent = [&](int axis) { return nest.axes[axis].extent; };
  const Dim blocks = group.as<AttentionGroup>().longest_sequence
                         ? max(Dim(1), ceil_div(*group.as<AttentionGroup>().longest_sequence, queries))
                         : ceil_div(extent(kQuery), queries);
  KeyParts out{.tiles = extent(kBatch) * extent(kKeyHead) * extent(kSharing) * blocks};
  if (plan.sums_in_order) return out;
  // The least number of tiles, with 1 for each symbol: where it is enough tasks, no run needs parts.
  const Dim least = substitute(out.tiles, [](const DimNode&) { return Dim(1); });
  if (group.as<AttentionGroup>().longest_sequence || Dim(tactic.split - 1).less(least).value_or(false)) return out;
  const Dim few = less_than(out.tiles, Dim(tactic.split)), most = floor_div(extent(kKey), Dim(std::max<int64_t>(1, tactic.least)));
  out.parts = max(Dim(1), select(few, min(ceil_div(Dim(tactic.split), max(Dim(1), out.tiles)), most), Dim(1)));
  // A part reads all of its keys, hidden ones too. So with a mask by position, keys are split only where there is one block of queries,
  // which usually follow nearly all keys.
  if (visible_keys(nest)) out.parts = select(less_than(blocks, Dim(2)), out.parts, Dim(1));
  return out;
}

PartShapes part_shapes(const KeyParts& parts, const Nest& nest, Tile tile, const Target& target) {
  const int64_t queries = int64_t{tile.vectors} * target.lanes();
  const Dim stored_parts = select(less_than(Dim(1), parts.parts), parts.parts, Dim(0));
  return {{parts.tiles, stored_parts, queries * padded_values(nest, tile, target)}, {parts.tiles, stored_parts, 2 * queries}};
}

std::optional<FewQueries> few_queries(const Nest& nest, const Group& group, const AttentionTactic& tactic, const Plan& plan) {
  constexpr int64_t kMostRows = 8;
  const Dim queries = nest.axes[kQuery].extent, sharing = nest.axes[kSharing].extent;
  if (!plan.sums_in_order || group.as<AttentionGroup>().longest_sequence || tactic.few == 0 || !sharing.is_number()) return std::nullopt;
  FewQueries out{.used = less_than(queries, Dim(tactic.few + 1))};
  if (out.used == Dim(0)) return std::nullopt;
  out.heads = std::max<int64_t>(1, sharing.value());
  out.chunks = ceil_div(out.heads, kMostRows);
  out.rows = static_cast<int>(ceil_div(out.heads, out.chunks));
  const Dim of_heads = nest.axes[kBatch].extent * nest.axes[kKeyHead].extent * queries;
  out.tiles = select(out.used, of_heads * Dim(out.chunks), Dim(0));
  out.results = select(out.used, of_heads * Dim(out.heads), Dim(0));
  out.ranges = ceil_div(nest.axes[kKey].extent, Dim(kKeysOfARange));
  return out;
}

int vectors_for(int rows, const Target& target) {
  int vectors = 4;
  while (vectors > 1 && rows * vectors + vectors + 1 > target.registers) --vectors;
  return vectors;
}

PartShapes part_shapes(const FewQueries& few, const Nest& nest, const Target& target) {
  const int64_t values = round_up(nest.axes[kValueSize].extent.value(), int64_t{target.lanes()});
  return {{few.tiles, few.ranges, few.rows * values}, {few.tiles, few.ranges, Dim(2 * int64_t{few.rows})}};
}

}  // namespace tenon::codegen
