// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/attention/attention_softmax.h"

namespace tenon::codegen {

namespace {

void shrink_sums(AttentionCode& code, const QueryTile& q) {
  TileBuilder& build = code.build();
  build.loop(code.number(0), code.number(code.width(q)), code.number(1), [&](Reg r) {
    const Reg shrink = build.load(code.factors, r, 1);
    for (int64_t v = 0; v < code.value_pad; v += code.lanes()) {
      const Reg place = code.at(code.number(v), r, code.value_pad);
      build.store(code.sums, place, build.mul(code.load(code.sums, place), shrink));
    }
  });
}

/// Puts the block's totals to those of the blocks before, if there were any; those shrink by e^shrinks.
void join(AttentionCode& code, const QueryTile& q, Reg joins, const std::vector<Reg>& shrinks, const std::vector<Reg>& totals) {
  TileBuilder& build = code.build();
  const auto begin = [&] {
    for (int v = 0; v < q.vectors; ++v) build.store(code.totals, code.place_of(v), totals[static_cast<size_t>(v)]);
    return std::vector<Reg>{};
  };
  const auto go_on = [&] {
    for (int v = 0; v < q.vectors; ++v) {
      const Reg place = code.place_of(v), shrink = build.expr(ExprOp::exp, {shrinks[static_cast<size_t>(v)]});
      build.store(code.factors, place, shrink);
      build.store(code.totals, place, build.fma(code.load(code.totals, place), shrink, totals[static_cast<size_t>(v)]));
    }
    shrink_sums(code, q);
    return std::vector<Reg>{};
  };
  build.branch(joins, go_on, begin);
}

}  // namespace

Reg higher(AttentionCode& code, Reg a, Reg b) { return code.build().expr(ExprOp::select, {code.build().expr(ExprOp::less, {a, b}), b, a}); }

Reg base_of(AttentionCode& code, Reg maximum) {
  const Reg none = code.build().expr(ExprOp::equal, {maximum, code.vector(-kInfinity)});
  return code.build().expr(ExprOp::select, {none, code.vector(0), maximum});
}

void begin_softmax(AttentionCode& code, const QueryTile& q) {
  TileBuilder& build = code.build();
  for (int v = 0; v < q.vectors; ++v) {
    build.store(code.maxima, code.place_of(v), code.vector(-kInfinity));
    build.store(code.totals, code.place_of(v), code.vector(0));
  }
  build.loop(code.number(0), code.number(code.width(q) * code.value_pad), code.number(code.lanes()),
             [&](Reg i) { build.store(code.sums, i, code.vector(0)); });
}

void normalise(AttentionCode& code, const QueryTile& q, Reg joins, Reg count, const std::vector<Reg>& highest) {
  TileBuilder& build = code.build();
  std::vector<Reg> shrinks, totals;
  for (int v = 0; v < q.vectors; ++v) {
    const Reg place = code.place_of(v);
    const Reg old = code.load(code.maxima, place), maximum = higher(code, old, highest[static_cast<size_t>(v)]);
    build.store(code.maxima, place, maximum);
    const Reg base = base_of(code, maximum);
    shrinks.push_back(build.sub(old, base));
    // One vector after the other: the numbers of one exp fill the registers.
    totals.push_back(build.loop(code.number(0), count, code.number(1), {code.vector(0)}, [&](Reg k, const std::vector<Reg>& before) {
      const Reg score = code.at(place, k, code.width(q));
      const Reg weight = build.expr(ExprOp::exp, {build.sub(code.load(code.scores, score), base)});
      build.store(code.scores, score, weight);
      return std::vector<Reg>{build.add(before[0], weight)};
    })[0]);
  }
  join(code, q, joins, shrinks, totals);
}

Reg has_no_visible_key(AttentionCode& code, const QueryTile& q) {
  TileBuilder& build = code.build();
  Reg lowest = code.vector(kInfinity);
  for (int v = 0; v < q.vectors; ++v) {
    const Reg highest = code.load(code.maxima, code.place_of(v));
    const Reg there = build.expr(ExprOp::select, {q.lanes[static_cast<size_t>(v)].inside, highest, code.vector(kInfinity)});
    lowest = build.min(lowest, there);
  }
  return build.expr(ExprOp::less_equal, {build.reduce(lowest, ops::Combine::min), code.real(code.visible->hidden_score / 4)});
}

}  // namespace tenon::codegen
