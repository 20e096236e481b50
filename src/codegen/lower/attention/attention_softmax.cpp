// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/attention/attention_softmax.h"

namespace tenon::codegen {

namespace {

/// Multiplies the sums of each query by its factor.
void rescale_sums(AttentionCode& code, const QueryTile& q) {
  TileBuilder& build = code.build();
  build.loop(code.number(0), code.number(code.width(q)), code.number(1), [&](Reg r) {
    const Reg rescale = build.load(code.factors, r, 1);
    for (int64_t v = 0; v < code.padded_value_size; v += code.lanes()) {
      const Reg place = code.at(code.number(v), r, code.padded_value_size);
      build.store(code.sums, place, build.mul(code.load(code.sums, place), rescale));
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

/// Adds the block's totals to those of earlier blocks. Where there are any (has_earlier), their totals and sums are multiplied by
/// e^exponents first.
void add_block_totals(AttentionCode& code, const QueryTile& q, Reg has_earlier, const std::vector<Reg>& exponents,
                      const std::vector<Reg>& totals) {
  TileBuilder& build = code.build();
  const auto begin = [&] {
    for (int v = 0; v < q.vectors; ++v) build.store(code.totals, code.place_of(v), totals[static_cast<size_t>(v)]);
    return std::vector<Reg>{};
  };
  const auto add_to_earlier = [&] {
    for (int v = 0; v < q.vectors; ++v) {
      const Reg place = code.place_of(v), rescale = build.expr(ExprOp::exp, {exponents[static_cast<size_t>(v)]});
      build.store(code.factors, place, rescale);
      build.store(code.totals, place, build.fma(code.load(code.totals, place), rescale, totals[static_cast<size_t>(v)]));
    }
    rescale_sums(code, q);
    return std::vector<Reg>{};
  };
  build.branch(has_earlier, add_to_earlier, begin);
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
  build.loop(code.number(0), code.number(code.width(q) * code.padded_value_size), code.number(code.lanes()),
             [&](Reg i) { build.store(code.sums, i, code.vector(0)); });
}

void normalise(AttentionCode& code, const QueryTile& q, Reg has_earlier, Reg count, const std::vector<Reg>& highest) {
  TileBuilder& build = code.build();
  std::vector<Reg> exponents, totals;
  for (int v = 0; v < q.vectors; ++v) {
    const Reg place = code.place_of(v);
    const Reg old = code.load(code.maxima, place), maximum = higher(code, old, highest[static_cast<size_t>(v)]);
    build.store(code.maxima, place, maximum);
    const Reg base = base_of(code, maximum);
    exponents.push_back(build.sub(old, base));
    // One vector at a time: one inlined exp needs nearly all registers.
    totals.push_back(exponentials(code, q, place, base, count));
  }
  add_block_totals(code, q, has_earlier, exponents, totals);
}

void merge_weights(AttentionCode& code, Reg place, Reg old, Reg maximum_of_part, const std::function<Reg()>& total_of_part) {
  TileBuilder& build = code.build();
  const Reg maximum = higher(code, old, maximum_of_part), base = base_of(code, maximum);
  const auto factor = [&](Reg highest) { return build.expr(ExprOp::exp, {build.sub(highest, base)}); };
  const Reg rescale = factor(old), part_factor = factor(maximum_of_part);
  const Reg total = total_of_part();
  build.store(code.maxima, place, maximum);
  build.store(code.factors, place, rescale);
  build.store(code.part_factors, place, part_factor);
  build.store(code.totals, place, build.fma(total, part_factor, build.mul(code.load(code.totals, place), rescale)));
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
