// SPDX-License-Identifier: Apache-2.0
// One query of each sequence, at a place that the run chooses: Attention computes that query alone, keys and values stay whole. Where
// the op hides the keys after a query by its place, an explicit mask replaces that.
#include <algorithm>

#include "rewrite/rule.h"
#include "rules/helpers/attention.h"
#include "rules/helpers/axis_selection.h"
#include "rules/helpers/iota.h"
#include "rules/helpers/replace_root.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::trim_chosen_queries {
using namespace rewrite;
namespace {

constexpr size_t kKey = 1, kMask = 3, kPastKey = 4, kNonpad = 6;
constexpr int kQueryAxis = 2;
/// [batch, heads, sequence, size] as [batch, sequence, heads, size], and back.
ir::Ints heads_second() { return {0, 2, 1, 3}; }

struct Query {
  NodeId attention;
  std::vector<NodeId> readers;
  ValueId place;  ///< i64[batch,1]
};

/// The places [batch, 1] after the numbers 0, 1, 2, ... of the sequences: one query of each.
ValueId place_of_each(const Match& m, ValueId indices, Dim batch) {
  const NodeId pair = m.producer(indices, "Concat");
  if (!pair || m.node(pair).inputs.size() != 2 || m.axis(pair, "axis", 0, indices) != 1) return {};
  const auto sequences = iota_length(m, m.operand(pair, 0), 0);
  const DimList* places = m.shape(m.operand(pair, 1));
  const bool fits = sequences && sequences->known_equal(batch) && places && places->size() == 2 && places->back().known_equal(1);
  return fits && m.dtype(m.operand(pair, 1)) == DType::i64 ? m.operand(pair, 1) : ValueId{};
}

bool counts_from_the_place(const Match& m, NodeId attention) {
  const auto& attributes = m.node(attention).attributes;
  return attributes.integer("left_window_size", -1) >= 0 || attributes.integer("right_window_size", -1) >= 0 ||
         (attributes.integer("is_causal", 0) != 0 && (m.operand(attention, kPastKey) || m.operand(attention, kNonpad)));
}

/// The mask is the same for all queries, and covers all keys.
bool mask_fits(const Match& m, NodeId attention) {
  const ValueId mask = m.operand(attention, kMask);
  const DimList *shape = m.shape(mask), *keys = m.shape(m.operand(attention, kKey));
  if (!mask) return true;
  return shape && keys && shape->size() >= 2 && (*shape)[shape->size() - 2].known_equal(1) &&
         shape->back().known_equal((*keys)[kQueryAxis]);
}

bool query(Match& m) {
  const NodeId transpose = m.producer(m.operand(m.root(), 0), "Transpose");
  const NodeId attention = transpose ? m.producer(m.operand(transpose, 0), "Attention") : NodeId{};
  if (!attention || permutation(m, transpose) != heads_second() || m.node(m.root()).attributes.integer("batch_dims", 0) != 0) return false;
  const DimList* whole = m.shape(m.operand(m.root(), 0));
  const auto readers = whole ? equal_readers(m, m.operand(m.root(), 0)) : std::nullopt;
  if (!readers) return false;
  if ((*whole)[1].known_equal(1)) return m.refuse("there is one query");
  if (m.use_count(m.operand(transpose, 0)) != 1 || m.operand(transpose, 0) != m.result(attention))
    return m.refuse("another result is read");
  const auto& results = m.node(attention).outputs;
  if (std::ranges::any_of(results, [&](ValueId v) { return v && v != results[0] && m.use_count(v) > 0; }))
    return m.refuse("another result is read");
  const ValueId place = place_of_each(m, m.operand(m.root(), 1), (*whole)[0]);
  if (!place) return m.refuse("not one place of each sequence");
  if (counts_from_the_place(m, attention)) return m.refuse("a window, or causal after other keys: they count from the place of the query");
  if (!mask_fits(m, attention)) return m.refuse("the mask differs from query to query, or does not cover all keys");
  m.take(transpose);
  m.take(attention);
  return m.accept(Query{attention, *readers, place});
}

/// Keys up to the place, which may count from the end: [batch, 1, 1, keys].
ValueId up_to_place(const Match& m, Rewriter& w, const Query& found) {
  const ValueId length =
      w("Shape", {operand_with_query_length(m, found.attention)}, {{"start", int64_t{kQueryAxis}}, {"end", int64_t{kQueryAxis + 1}}});
  const ValueId from_end = w("Less", {found.place, w.scalar(DType::i64, 0)});
  const ValueId place = w("Where", {from_end, w("Add", {found.place, length}), found.place});
  const ValueId keys = positions_along(w, m.operand(found.attention, kKey), kQueryAxis);
  return w("Unsqueeze", {w("LessOrEqual", {keys, place}), w.ints({1, 2})});
}

bool one_query(const Match& m, Rewriter& w) {
  const Query& found = m.state<Query>();
  const Node& node = m.node(found.attention);
  std::vector<ValueId> inputs(node.inputs.begin(), node.inputs.end());
  const NodeId transposed = m.producer(inputs[0], "Transpose");
  const bool lay_so = transposed && permutation(m, transposed) == heads_second();
  const ValueId rows = lay_so ? m.operand(transposed, 0) : w("Transpose", {inputs[0]}, {{"perm", heads_second()}});
  inputs[0] = w("Unsqueeze", {w.clone_with_operands(m.root(), {rows, m.operand(m.root(), 1)})[0], w.ints({kQueryAxis})});
  if (node.attributes.integer("is_causal", 0) != 0) {
    inputs.resize(std::max(inputs.size(), kMask + 1));
    inputs[kMask] = combined_mask(w, inputs[kMask], up_to_place(m, w, found));
  }
  const ValueId y = w("Attention", std::move(inputs), attributes_except(node, {"is_causal"}));
  const ValueId row = w("Squeeze", {y, w.ints({kQueryAxis})});
  for (NodeId reader : found.readers) w.replace(m.result(reader), row);
  return true;
}

}  // namespace

RULES(trim_chosen_queries) {
    .rules =
        {
            {.name = "choose_queries",
             .docs = "one row of Attention for each sequence, at places that the run chooses, needs one query of each",
             .roots = "GatherND",
             .match = query,
             .rewrite = one_query,
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .allow_outside_uses = true},
        },
};

}  // namespace tenon::rules::trim_chosen_queries
