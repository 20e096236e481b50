// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/attention/attention_join.h"

#include "codegen/lower/attention/attention_softmax.h"

namespace tenon::codegen {

namespace {

Reg sums_of_slot(AttentionCode& code, Reg slot) {
  return code.build().mul(slot, code.number(int64_t{code.tile.vectors} * code.lanes() * code.value_pad));
}

/// Of maxima; as many totals follow.
Reg weights_of_slot(AttentionCode& code, Reg slot) {
  return code.build().mul(slot, code.number(int64_t{2} * code.tile.vectors * code.lanes()));
}

void merge_sums(AttentionCode& code, const QueryTile& q, Reg theirs) {
  TileBuilder& build = code.build();
  build.loop(code.number(0), code.number(code.width(q)), code.number(1), [&](Reg r) {
    const Reg shrink = build.load(code.factors, r, 1), of_part = build.splat(build.load(code.part_factors, r, 1), code.lanes());
    for (int64_t v = 0; v < code.value_pad; v += code.lanes()) {
      const Reg place = code.at(code.number(v), r, code.value_pad);
      const Reg before = build.mul(code.load(code.sums, place), shrink);
      build.store(code.sums, place, build.fma(code.load(code.part_sums, build.add(theirs, place)), of_part, before));
    }
  });
}

}  // namespace

void store_part(AttentionCode& code, const QueryTile& q) {
  TileBuilder& build = code.build();
  const Reg sums = sums_of_slot(code, q.slot), weights = weights_of_slot(code, q.slot);
  build.loop(code.number(0), code.number(code.width(q) * code.value_pad), code.number(code.lanes()),
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
      const Reg place = code.place_of(v), theirs = build.add(weights, place);
      const Reg old = code.load(code.maxima, place), found = code.load(code.part_weights, theirs);
      merge_weights(code, place, old, found, [&] { return code.load(code.part_weights, build.add(theirs, code.number(code.width(q)))); });
    }
    merge_sums(code, q, sums);
  });
}

}  // namespace tenon::codegen
