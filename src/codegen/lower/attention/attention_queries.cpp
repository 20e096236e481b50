// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/attention/attention_queries.h"

namespace tenon::codegen {

namespace {

/// A square of registers, of queries from `r` and elements from `d` on. Rows beyond the last query repeat it; they are computed and not
/// stored.
std::vector<Reg> rows_of_queries(AttentionCode& code, const QueryTile& q, Reg r, Reg d, double scale) {
  TileBuilder& build = code.build();
  const Dim step = code.places[0].coefficients[kHeadSize];
  MemoryOptions how;
  if (code.head_size % code.lanes() != 0) how.mask = build.first_mask(build.sub(code.number(code.head_size), d), code.lanes());
  if (!(step == Dim(1))) how.stride = code.emit.dim(step);
  std::vector<Reg> rows;
  for (int i = 0; i < code.lanes(); ++i) {
    AttentionPoint point = q.head;
    const Reg row = build.add(r, code.number(i));
    point[kQuery] = build.min(build.add(q.first, row), build.sub(q.end, code.number(1)));
    const Reg from = code.emit.add_scaled(element_at(code.emit, code.places[0], point), step, d);
    rows.push_back(build.mul(build.load(code.operands[0], from, code.lanes(), how), code.vector(scale)));
  }
  return rows;
}

/// Stores the scaled queries as [head size][queries].
void transpose_queries(AttentionCode& code, const QueryTile& q, double scale) {
  TileBuilder& build = code.build();
  build.loop(code.number(0), code.number(code.width(q)), code.number(code.lanes()), [&](Reg r) {
    build.loop(code.number(0), code.number(code.head_size), code.number(code.lanes()), [&](Reg d) {
      const std::vector<Reg> columns = build.transpose(rows_of_queries(code, q, r, d, scale));
      for (int i = 0; i < code.lanes(); ++i)
        build.store(code.scaled_query, code.at(r, build.add(d, code.number(i)), code.width(q)), columns[static_cast<size_t>(i)]);
    });
  });
}

}  // namespace

void prepare_queries(AttentionCode& code, QueryTile& q, double scale) {
  TileBuilder& build = code.build();
  const Reg last = build.sub(q.end, code.number(1));
  for (int v = 0; v < q.vectors; ++v) {
    QueryLanes l;
    l.first = build.add(q.first, code.place_of(v));
    l.all = build.min(build.add(build.splat(l.first, code.lanes()), code.emit.iota()), build.splat(last, code.lanes()));
    l.inside = build.first_mask(build.sub(q.valid, code.place_of(v)), code.lanes());
    q.lanes.push_back(l);
  }
  if (auto r = code.scores_of->enter_queries(code.nest.outputs[0].value, q.head, q.lanes); !r) code.status = std::move(r);
  transpose_queries(code, q, scale);
}

}  // namespace tenon::codegen
