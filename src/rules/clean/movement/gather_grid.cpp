// SPDX-License-Identifier: Apache-2.0
// Indexing a matrix by all of its rows and all of its columns: exporters write mask[batch, key] for every batch and key with
// ranges. What is gathered is the whole matrix in its order, with axes of size 1 between: an Unsqueeze.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/iota.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::clean_gather_grid {
using namespace rewrite;
namespace {

struct Grid {
  ValueId data;
  ir::Ints axes;  ///< new axes of the result
};

/// The value in front of an Expand, where there is one.
ValueId before_expand(const Match& m, ValueId value) {
  const NodeId expand = m.producer(value, "Expand");
  return expand && m.rank(m.operand(expand, 0)) == m.rank(value) ? m.operand(expand, 0) : value;
}

/// Rows counted along one axis of the result, columns along a later one, both completely. `grid`: rank of the index values.
std::optional<ir::Ints> new_axes(const Match& m, ValueId data, ValueId rows, ValueId columns, size_t grid) {
  const DimList* shape = m.shape(data);
  if (!shape || shape->size() != 2) return std::nullopt;
  for (size_t p = 0; p < grid; ++p) {
    const auto row_count = iota_length(m, rows, p);
    if (!row_count || !row_count->known_equal((*shape)[0])) continue;
    for (size_t q = p + 1; q < grid; ++q) {
      const auto column_count = iota_length(m, columns, q);
      if (!column_count || !column_count->known_equal((*shape)[1])) continue;
      ir::Ints axes;
      for (size_t i = 0; i < grid; ++i)
        if (i != p && i != q) axes.push_back(static_cast<int64_t>(i));
      return axes;
    }
  }
  return std::nullopt;
}

/// Unsqueeze(x, -1) or a Reshape that does the same.
ValueId without_last_axis(const Match& m, ValueId value) {
  const NodeId node = m.producer(value);
  if (!node || !(m.node(node).is("Unsqueeze") || m.node(node).is("Reshape"))) return {};
  const ValueId source = m.operand(node, 0);
  const DimList *from = m.shape(source), *to = m.shape(value);
  if (!from || !to || to->size() != from->size() + 1 || !to->back().known_equal(1)) return {};
  for (size_t i = 0; i < from->size(); ++i)
    if (!(*from)[i].known_equal((*to)[i])) return {};
  return source;
}

/// GatherND(data, Concat(rows, columns)), as the dynamo exporter writes it.
bool pairs(Match& m) {
  const ValueId data = m.operand(m.root(), 0), indices = m.operand(m.root(), 1);
  const NodeId concat = m.producer(indices, "Concat");
  const auto rank = m.rank(indices);
  if (!concat || !rank || m.node(m.root()).attributes.integer("batch_dims", 0) != 0 || m.node(concat).explicit_inputs != 2) return false;
  if (m.axis(concat, "axis", 0, indices) != *rank - 1) return false;
  const ValueId rows = without_last_axis(m, m.operand(concat, 0)), columns = without_last_axis(m, m.operand(concat, 1));
  if (!rows || !columns) return false;
  auto axes = new_axes(m, data, before_expand(m, rows), before_expand(m, columns), static_cast<size_t>(*rank - 1));
  if (!axes) return false;
  return m.accept(Grid{data, std::move(*axes)});
}

/// Gather(Flatten(data), columns + rows * width), as the TorchScript exporter writes it.
bool flat_positions(Match& m) {
  const ValueId flat = m.operand(m.root(), 0), indices = m.operand(m.root(), 1);
  const NodeId flatten = m.producer(flat);
  const NodeId sum = m.producer(indices, "Add");
  const auto rank = m.rank(indices), width = m.rank(flat);
  if (!flatten || !sum || !rank || !width || m.axis(m.root(), "axis", 0, flat) != 0) return false;
  const ValueId data = m.operand(flatten, 0);
  const DimList *shape = m.shape(data), *rows_of = m.shape(flat);
  if (!(m.node(flatten).is("Flatten") || m.node(flatten).is("Reshape")) || !shape || shape->size() != 2 || *width > 2) return false;
  if (*width == 2 && !(*rows_of)[1].known_equal(1)) return false;
  for (size_t side : {1, 0}) {
    const NodeId product = m.producer(m.operand(sum, side), "Mul");
    if (!product) continue;
    for (size_t k : {0, 1}) {
      const auto factor = m.graph().view(product).dims(1 - k);
      if (!factor || factor->size() != 1 || !(*factor)[0].known_equal((*shape)[1])) continue;
      auto axes = new_axes(m, data, m.operand(product, k), m.operand(sum, 1 - side), static_cast<size_t>(*rank));
      if (!axes) continue;
      if (*width == 2) axes->push_back(*rank);
      return m.accept(Grid{data, std::move(*axes)});
    }
  }
  return false;
}

bool unsqueeze(const Match& m, Rewriter& w) {
  const Grid& found = m.state<Grid>();
  return replace_root(m, w, found.axes.empty() ? found.data : w("Unsqueeze", {found.data, w.ints(found.axes)}));
}

}  // namespace

RULES(clean_gather_grid) {
    .rules =
        {
            {.name = "gather_pairs",
             .docs = "GatherND of a matrix by all rows and columns is an Unsqueeze",
             .roots = "GatherND",
             .match = pairs,
             .rewrite = unsqueeze,
             .benefit = 5,
             .allow_outside_uses = true},
            {.name = "gather_flat",
             .docs = "Gather of a flattened matrix by column + row * width is an Unsqueeze",
             .roots = "Gather",
             .match = flat_positions,
             .rewrite = unsqueeze,
             .benefit = 5,
             .allow_outside_uses = true},
        },
};

}  // namespace tenon::rules::clean_gather_grid
