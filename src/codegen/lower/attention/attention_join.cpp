// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/attention/attention_join.h"

#include "codegen/lower/attention/attention_softmax.h"

namespace tenon::codegen {

namespace {

/// Offset of the sums of that part in AttentionCode::part_sums.
Reg sums_of_slot(AttentionCode& code, Reg slot) {
  return code.build().mul(slot, code.number(int64_t{code.tile.vectors} * code.lanes() * code.padded_value_size));
}

/// Offset of the maxima of that part in AttentionCode::part_weights; as many totals follow.
Reg weights_of_slot(AttentionCode& code, Reg slot) {
  return code.build().mul(slot, code.number(int64_t{2} * code.tile.vectors * code.lanes()));
}

/// Adds the sums of a part, which begin at `part_offset`, to those of the tile, each scaled by its factor.
void merge_sums(AttentionCode& code, const QueryTile& q, Reg part_offset) {
  TileBuilder& build = code.build();
  build.loop(code.number(0), code.number(code.width(q)), code.number(1), [&](Reg r) {
    const Reg rescale = build.load(code.factors, r, 1), part_factor = build.splat(build.load(code.part_factors, r, 1), code.lanes());
    for (int64_t v = 0; v < code.padded_value_size; v += code.lanes()) {
      const Reg place = code.at(code.number(v), r, code.padded_value_size);
      const Reg before = build.mul(code.load(code.sums, place), rescale);
      build.store(code.sums, place, build.fma(code.load(code.part_sums, build.add(part_offset, place)), part_factor, before));
    }
  });
}

}  // namespace

void store_part(AttentionCode& code, const QueryTile& q) {
  TileBuilder& build = code.build();
  const Reg sums = sums_of_slot(code, q.slot), weights = weights_of_slot(code, q.slot);
  build.loop(code.number(0), code.number(code.width(q) * code.padded_value_size), code.number(code.lanes()),
             [&](Reg i) { build.store(code.part_sums, build.add(sums, i), code.load(code.sums, i)); });
  for (int v = 0; v < q.vectors; ++v) {
    const Reg place = code.place_of(v), maxima = build.add(weights, place);
    build.store(code.part_weights, maxima, code.load(code.maxima, place));
    build.store(code.part_weights, build.add(maxima, code.number(code.width(q))), code.load(code.totals, place));
  }
}

void merge_parts(AttentionCode& code, const QueryTile& q) {
  TileBuilder& build = code.build();
  build.loop(code.number(0), code.emit.dim(code.parts.parts), code.number(1), [&](Reg part) {
    const Reg slot = build.add(build.mul(q.tile, code.emit.dim(code.parts.parts)), part);
    const Reg sums = sums_of_slot(code, slot), weights = weights_of_slot(code, slot);
    for (int v = 0; v < q.vectors; ++v) {
      const Reg place = code.place_of(v), part_offset = build.add(weights, place);
      const Reg old = code.load(code.maxima, place), found = code.load(code.part_weights, part_offset);
      merge_weights(code, place, old, found,
                    [&] { return code.load(code.part_weights, build.add(part_offset, code.number(code.width(q)))); });
    }
    merge_sums(code, q, sums);
  });
}

}  // namespace tenon::codegen
