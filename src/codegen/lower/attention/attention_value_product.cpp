// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/attention/attention_value_product.h"

#include "base/checked.h"
#include "codegen/lower/attention/attention_widening.h"

namespace tenon::codegen {

namespace {

/// Adds weights times values to the sums of `rows` queries from `r` on, for `vectors` registers of the value from element `v` on.
void tile_of_values(AttentionCode& code, const QueryTile& q, Reg base, Reg r, Reg v, Reg count, int rows, int vectors) {
  TileBuilder& build = code.build();
  Contract c;
  c.rows = rows;
  c.vectors = vectors;
  c.lanes = code.lanes();
  c.a = code.scores;
  c.b = code.is_narrow(2) ? code.wide[2] : code.operands[2];
  c.a_offset = r;
  c.a_row_stride = code.number(1);
  c.a_k_stride = code.number(code.width(q));
  c.b_offset = build.add(base, v);
  c.b_k_stride = code.is_narrow(2) ? code.number(code.wide_row(2)) : code.emit.dim(code.places[2].coefficients[kKey]);
  c.depth = count;
  const Reg first = code.at(v, r, code.padded_value_size);
  const auto place = [&](int row, int x) {
    return build.add(first, code.number(row * code.padded_value_size + int64_t{x} * code.lanes()));
  };
  for (int row = 0; row < rows && !code.in_order; ++row)
    for (int x = 0; x < vectors; ++x) c.accumulators_in.push_back(code.load(code.sums, place(row, x)));
  const auto sums = build.contract(std::move(c));
  for (int row = 0; row < rows; ++row) {
    Reg rescale = kNone, of_range = kNone;
    if (code.in_order) {
      const Reg query = build.add(r, code.number(row));
      rescale = build.splat(build.load(code.factors, query, 1), code.lanes());
      of_range = build.splat(build.load(code.part_factors, query, 1), code.lanes());
    }
    for (int x = 0; x < vectors; ++x) {
      Reg sum = sums[static_cast<size_t>(row) * vectors + x];
      if (code.in_order) sum = build.fma(sum, of_range, build.mul(code.load(code.sums, place(row, x)), rescale));
      build.store(code.sums, place(row, x), sum);
    }
  }
}

/// The same for all queries, in tiles of nearly equal height.
void panel_of_values(AttentionCode& code, const QueryTile& q, Reg base, Reg v, Reg count, int vectors) {
  const int64_t width = code.width(q), tiles = ceil_div(width, int64_t{code.tile.rows});
  const int64_t rows = width / tiles, larger = width % tiles * (rows + 1);
  const auto all = [&](int64_t from, int64_t to, int64_t step) {
    if (from == to) return;
    code.build().loop(code.number(from), code.build().min(code.number(to), q.valid), code.number(step),
                      [&](Reg r) { tile_of_values(code, q, base, r, v, count, static_cast<int>(step), vectors); });
  };
  all(0, larger, rows + 1);
  all(larger, width, rows);
}

/// Multiplies the weights of each key by the scale of its value.
void scale_weights(AttentionCode& code, const QueryTile& q, Reg key, Reg count) {
  TileBuilder& build = code.build();
  build.loop(code.number(0), count, code.number(1), [&](Reg k) {
    AttentionPoint point = q.head;
    point[kKey] = build.add(key, k);
    auto loaded = code.scores_of->number_at(Expr::input(code.value_scale, DType::f32), point);
    if (!loaded) code.status = std::unexpected(loaded.error());
    const Reg scale = build.splat(loaded ? *loaded : code.real(1), code.lanes());
    for (int v = 0; v < q.vectors; ++v) {
      const Reg weight = build.add(build.mul(k, code.number(code.width(q))), code.place_of(v));
      build.store(code.scores, weight, build.mul(code.load(code.scores, weight), scale));
    }
  });
}

}  // namespace

void multiply_values(AttentionCode& code, const QueryTile& q, Reg key, Reg count) {
  AttentionPoint point = q.head;
  point[kKey] = key;
  if (code.is_narrow(2)) widen(code, q, 2, key, count);
  if (code.value_scale >= 0) scale_weights(code, q, key, count);
  const Reg base = code.is_narrow(2) ? code.number(0) : element_at(code.emit, code.places[2], point);
  const int64_t lanes = code.lanes(), panel = code.tile.vectors * lanes, whole = code.value_size / panel * panel;
  code.build().loop(code.number(0), code.number(whole), code.number(panel),
                    [&](Reg v) { panel_of_values(code, q, base, v, count, code.tile.vectors); });
  if (whole < code.value_size)
    panel_of_values(code, q, base, code.number(whole), count, static_cast<int>(ceil_div(code.value_size - whole, lanes)));
}

}  // namespace tenon::codegen
