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

/// Replaces the scores of a vector of queries by exp(score - base); returns the sum, in the order of the keys.
Reg exponentials(AttentionCode& code, const QueryTile& q, Reg place, Reg base, Reg count) {
  TileBuilder& build = code.build();
  return build.loop(code.number(0), count, code.number(1), {code.vector(0)}, [&](Reg k, const std::vector<Reg>& before) {
    const Reg score = code.at(place, k, code.width(q));
    const Reg weight = build.expr(ExprOp::exp, {build.sub(code.load(code.scores, score), base)});
    build.store(code.scores, score, weight);
    return std::vector<Reg>{build.add(before[0], weight)};
  })[0];
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
    totals.push_back(exponentials(code, q, place, base, count));
  }
  join(code, q, joins, shrinks, totals);
}

void merge_weights(AttentionCode& code, Reg place, Reg old, Reg maximum_of_part, const std::function<Reg()>& total_of_part) {
  TileBuilder& build = code.build();
  const Reg maximum = higher(code, old, maximum_of_part), base = base_of(code, maximum);
  const auto factor = [&](Reg highest) { return build.expr(ExprOp::exp, {build.sub(highest, base)}); };
  const Reg shrink = factor(old), of_part = factor(maximum_of_part);
  const Reg total = total_of_part();
  build.store(code.maxima, place, maximum);
  build.store(code.factors, place, shrink);
  build.store(code.part_factors, place, of_part);
  build.store(code.totals, place, build.fma(total, of_part, build.mul(code.load(code.totals, place), shrink)));
}

void add_weights_of_range(AttentionCode& code, const QueryTile& q, Reg count, const std::vector<Reg>& highest) {
  for (int v = 0; v < q.vectors; ++v) {
    const Reg place = code.place_of(v), maximum = highest[static_cast<size_t>(v)];
    const Reg total = exponentials(code, q, place, base_of(code, maximum), count);
    merge_weights(code, place, code.load(code.maxima, place), maximum, [&] { return total; });
  }
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
