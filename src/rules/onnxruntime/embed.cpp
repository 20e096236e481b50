// SPDX-License-Identifier: Apache-2.0
// The rows of two or three tables, added and normed: the start of BERT and its kin. Ids are taken to be no negative ones, which Gather
// would count from the end and EmbedLayerNormalization does not; it needs them in 32 bits.
#include <algorithm>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::onnxruntime_embed {
using namespace rewrite;
namespace {

struct Lookup {
  ValueId table, ids;
};
struct Embedding {
  Lookup words, places, segments;
};

/// a and b are equal wherever the sum of two tables' rows is legal: b, or the smaller of b and a number above 1.
bool equal_where_legal(Dim a, Dim b) {
  if (a.known_equal(b)) return true;
  const DimNode* node = a.node();
  if (!node || node->kind != DimNode::Kind::min) return false;
  const Dim x = node->operands[0], y = node->operands[1];
  return (x.known_equal(b) && y.is_number() && y.value() > 1) || (y.known_equal(b) && x.is_number() && x.value() > 1);
}

bool collect(Match& m, ValueId value, std::vector<Lookup>& out, int depth) {
  if (const NodeId add = depth > 0 ? m.producer(value, "Add") : NodeId{}) {
    m.take(add);
    return collect(m, m.operand(add, 0), out, depth - 1) && collect(m, m.operand(add, 1), out, depth - 1);
  }
  const NodeId gather = m.take(value, "Gather");
  if (!gather || m.node(gather).attributes.integer("axis", 0) != 0 || m.rank(m.operand(gather, 0)) != 2) return false;
  out.push_back({m.operand(gather, 0), m.operand(gather, 1)});
  return m.is_constant(out.back().table) && m.rank(out.back().ids) == 2 && is_integer(m.dtype(out.back().ids));
}

/// [batch, sequence] ids as those of `words`, or [1, sequence] of them.
bool places_for(const Match& m, const Lookup& l, const Lookup& words) {
  const DimList &ids = *m.shape(l.ids), &of = *m.shape(words.ids);
  return (ids[0].known_equal(1) || ids[0].known_equal(of[0])) && equal_where_legal(ids[1], of[1]);
}

bool embedding(Match& m) {
  const ValueId sum = m.operand(m.root(), 0);
  const auto axis = m.axis(m.root(), "axis", -1, sum);
  if (m.rank(sum) != 3 || axis != 2 || m.dtype(sum) != DType::f32 || !m.operand(m.root(), 2)) return false;
  for (size_t k : {1, 2})
    if (m.rank(m.operand(m.root(), k)) != 1) return false;
  std::vector<Lookup> found;
  if (!m.producer(sum, "Add") || !collect(m, sum, found, 2) || found.size() < 2 || found.size() > 3) return false;
  const auto full = [&](const Lookup& l) {
    const DimList &ids = *m.shape(l.ids), &rows = *m.shape(sum);
    return ids[0].known_equal(rows[0]) && ids[1].known_equal(rows[1]);
  };
  // Sums are the same in any order; the table of the positions is the one that may lack a batch.
  std::ranges::partition(found, full);
  if (!full(found[0]) || !places_for(m, found.back(), found[0]) || (found.size() == 3 && !full(found[1])))
    return m.refuse("the ids do not fit each other");
  return m.accept(Embedding{found[0], found.back(), found.size() == 3 ? found[1] : Lookup{}});
}

bool to_embedding(const Match& m, Rewriter& w) {
  const Embedding& e = m.state<Embedding>();
  const auto narrow = [&](ValueId ids) {
    return !ids || m.dtype(ids) == DType::i32 ? ids : w("Cast", {ids}, {{"to", static_cast<int64_t>(DType::i32)}});
  };
  const Node& norm = m.node(m.root());
  const auto results = w.many("com.microsoft::EmbedLayerNormalization",
                              {narrow(e.words.ids), narrow(e.segments.ids), e.words.table, e.places.table, e.segments.table, norm.inputs[1],
                               norm.inputs[2], ValueId{}, narrow(e.places.ids)},
                              2, {{"epsilon", norm.attributes.number("epsilon", 1e-5f)}});
  return replace_root(m, w, results[0]);
}

}  // namespace

RULES(onnxruntime_embed) {
    .sets = "onnxruntime",
    .rules =
        {
            {.name = "embed_layer_norm",
             .docs = "LayerNormalization of the sum of two or three tables' rows: EmbedLayerNormalization (ids are no negative ones)",
             .roots = "LayerNormalization",
             .match = embedding,
             .rewrite = to_embedding,
             .numerics = Numerics::reassociating,
             .benefit = 8,
             .covered_patterns = "EmbedLayerNormalization"},
        },
};

}  // namespace tenon::rules::onnxruntime_embed
