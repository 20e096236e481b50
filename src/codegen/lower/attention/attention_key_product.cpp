// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/attention/attention_key_product.h"

#include "codegen/lower/attention/attention_softmax.h"
#include "codegen/lower/attention/attention_widening.h"

namespace tenon::codegen {

namespace {

/// Prefetches the cache lines of results, which other cores may hold, for kQueriesATile queries with each tile of keys: all at once would
/// delay the loads of keys.
void prefetch_results(AttentionCode& code, const QueryTile& q, Reg tile_of_keys) {
  constexpr int64_t kQueriesATile = 4;
  if (!(code.result.coefficients[kValueSize] == Dim(1)) || code.parts.several()) return;  // of parts another kernel writes them
  TileBuilder& build = code.build();
  const Reg from = build.mul(tile_of_keys, code.number(kQueriesATile)), to = build.add(from, code.number(kQueriesATile));
  build.loop(from, build.min(to, q.valid), code.number(1), [&](Reg r) {
    AttentionPoint point = q.head;
    point[kQuery] = build.add(q.first, r);
    const Reg row = element_at(code.emit, code.result, point);
    for (int64_t v = 0; v < code.value_size; v += code.lanes()) build.prefetch(code.out, build.add(row, code.number(v)));
  });
}

/// Evaluates `score_expr` for a product of query and key. Errors go to AttentionCode::status.
Reg score_of(AttentionCode& code, const Expr& score_expr, const AttentionPoint& point, size_t vector, Reg product) {
  auto made = code.scores_of->value(score_expr, point, vector, product);
  if (made) return *made;
  code.status = std::unexpected(made.error());
  return product;
}

/// Stores the scores of a tile of keys from `point` on, in lines from `first` on; returns the highest of each query.
std::vector<Reg> store_scores(AttentionCode& code, const QueryTile& q, const Expr& score_expr, AttentionPoint point, Reg first,
                              const std::vector<Reg>& products, std::vector<Reg> highest) {
  TileBuilder& build = code.build();
  const Reg key = point[kKey];
  for (size_t r = 0; r < products.size() / q.lanes.size(); ++r) {
    code.scores_of->enter_key();
    point[kKey] = build.add(key, code.number(static_cast<int64_t>(r)));
    const Reg line = build.mul(build.add(first, code.number(static_cast<int64_t>(r))), code.number(code.width(q)));
    for (size_t v = 0; v < q.lanes.size(); ++v) {
      const Reg score = score_of(code, score_expr, point, v, products[r * q.lanes.size() + v]);
      build.store(code.scores, build.add(line, code.place_of(static_cast<int>(v))), score);
      highest[v] = higher(code, highest[v], score);
    }
  }
  return highest;
}

/// Products of the queries with `rows` keys from `point` on. first: number of the first of these keys in the block.
std::vector<Reg> products_of(AttentionCode& code, const QueryTile& q, const AttentionPoint& point, Reg first, int rows) {
  Contract c;
  c.rows = rows;
  c.vectors = q.vectors;
  c.lanes = code.lanes();
  c.b = code.scaled_query;
  if (code.is_narrow(1)) {
    c.a = code.wide[1];
    c.a_row_stride = code.number(code.wide_row(1));
    c.a_offset = code.build().mul(first, c.a_row_stride);
    c.a_k_stride = code.number(1);
  } else {
    c.a = code.operands[1];
    c.a_offset = element_at(code.emit, code.places[1], point);
    c.a_row_stride = code.emit.dim(code.places[1].coefficients[kKey]);
    c.a_k_stride = code.emit.dim(code.places[1].coefficients[kHeadSize]);
  }
  c.b_offset = code.number(0);
  c.b_k_stride = code.number(code.width(q));
  c.depth = code.number(code.head_size);
  return code.build().contract(std::move(c));
}

/// Scores of a tile of `rows` keys. Where all keys are visible to all queries, the score has no mask.
std::vector<Reg> tile_of_keys(AttentionCode& code, const QueryTile& q, Reg key, Reg first, int rows, const std::vector<Reg>& highest) {
  TileBuilder& build = code.build();
  AttentionPoint point = q.head;
  point[kKey] = build.add(key, first);
  const auto products = products_of(code, q, point, first, rows);
  const auto scored = [&](const Expr& score) { return store_scores(code, q, score, point, first, products, highest); };
  if (!code.visible) return scored(code.nest.outputs[0].value);
  const Reg reach = build.add(point[kKey], code.number(rows));
  const Reg clear = build.expr(ExprOp::logical_and, {build.expr(ExprOp::less_equal, {q.keys.clear_begin, point[kKey]}),
                                                     build.expr(ExprOp::less_equal, {reach, q.keys.clear_end})});
  return build.branch(clear, [&] { return scored(code.visible->visible_score); }, [&] { return scored(code.nest.outputs[0].value); });
}

}  // namespace

std::vector<Reg> multiply_keys(AttentionCode& code, const QueryTile& q, Reg key, Reg count) {
  TileBuilder& build = code.build();
  if (code.is_narrow(1)) widen(code, q, 1, key, count);
  const std::vector<Reg> lowest(static_cast<size_t>(q.vectors), code.vector(-kInfinity));
  const auto all = [&](int rows) {
    return build.loop(code.number(0), count, code.number(rows), lowest, [&](Reg k, const std::vector<Reg>& highest) {
      // The last tile ends at the last key: where it overlaps the one before, it computes the same scores again.
      const Reg first = rows == 1 ? k : build.min(k, build.sub(count, code.number(rows)));
      prefetch_results(code, q, build.expr(ExprOp::div, {k, code.number(rows)}));
      return tile_of_keys(code, q, key, first, rows, highest);
    });
  };
  if (code.tile.rows == 1) return all(1);
  const Reg fills = build.expr(ExprOp::less_equal, {code.number(code.tile.rows), count});
  return build.branch(fills, [&] { return all(code.tile.rows); }, [&] { return all(1); });
}

}  // namespace tenon::codegen
