// SPDX-License-Identifier: Apache-2.0
// Masked attention whose sizes are not known to fit Attention: as a function of the domain tenon, defined by the nodes it replaces, so
// that whatever they broadcast, it does. It repeats heads and joins keys and values with earlier ones itself.
#include <cmath>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/attention.h"
#include "rules/helpers/casts.h"
#include "rules/helpers/replace_root.h"
#include "rules/helpers/scaled_view.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::onnxruntime_local_attention {
using namespace rewrite;
namespace {

struct Local {
  ScaledView query, keys;    ///< without the view that transposes the keys
  ir::Ints key_permutation;  ///< of the keys after their views; none where they need none
  ValueId mask, values;
  bool hides = false;  ///< the mask is true for scores that become low
  double scale = 1, low = -INFINITY;
};

/// The softmax below Where(IsNaN(p), 0, p).
NodeId guarded_softmax(Match& m, ValueId value) {
  const NodeId where = m.take(value, "Where");
  const NodeId is_nan = where ? m.take(m.operand(where, 0), "IsNaN") : NodeId{};
  const ValueId p = where ? m.operand(where, 2) : ValueId{};
  if (!is_nan || m.operand(is_nan, 0) != p || !m.is_number(m.operand(where, 1), 0)) return {};
  const NodeId softmax = m.take(p, "Softmax");
  return softmax && m.axis(softmax, "axis", -1, p) == 3 ? softmax : NodeId{};
}

/// Where(mask, x, low) or, of a mask that hides, Where(mask, low, x): notes mask and low, returns x.
ValueId kept_by_mask(const Match& m, NodeId where, Local& found) {
  for (size_t k : {2, 1}) {
    const auto low = m.is_constant(m.operand(where, k)) ? m.number(m.operand(where, k)) : std::nullopt;
    if (!low || std::isnan(*low) || *low == INFINITY || !fits_attribute(*low, m.dtype(m.operand(where, k)))) continue;
    found.mask = m.operand(where, 0);
    found.hides = k == 1;
    found.low = *low;
    return m.operand(where, 3 - k);
  }
  return {};
}

/// The scores below a Where of the mask, or below scores + Where(mask, 0, -inf) where `sums`.
ValueId masked_scores(Match& m, ValueId value, bool sums, Local& found) {
  const NodeId choice = sums ? NodeId{} : m.take(value, "Where"), add = sums ? m.take(value, "Add") : NodeId{};
  if (choice) return kept_by_mask(m, choice, found);
  for (size_t k : {0, 1}) {
    const NodeId where = add ? m.producer(m.operand(add, k), "Where") : NodeId{};
    for (size_t zero : {1, 2}) {
      if (!where || !m.is_number(m.operand(where, zero), 0) || m.number(m.operand(where, 3 - zero)) != -INFINITY) continue;
      found.mask = m.operand(where, 0);
      found.hides = zero == 2;
      return m.operand(add, 1 - k);
    }
  }
  return {};
}

/// The product that makes the scores, or those before a factor.
NodeId product_below(Match& m, ValueId scores, double& factor) {
  const ScaledView scaled = scaled_view_of(m, scores);
  if (scaled.data != scores && scaled.views.empty()) {
    m.take(m.producer(scores));
    factor = scaled.factor;
    scores = scaled.data;
  }
  const NodeId plain = m.producer(scores, "MatMul");
  return plain ? plain : m.producer(scores, "com.microsoft::FusedMatMul");
}

/// The keys before they are transposed. A fused product may transpose them itself.
bool transposed_keys(Match& m, NodeId product, Local& found) {
  found.keys = scaled_view_of(m, m.operand(product, 1));
  const ir::Attributes& a = m.node(product).attributes;
  if (a.integer("transA", 0) != 0 || a.integer("transBatchA", 0) != 0 || a.integer("transBatchB", 0) != 0) return false;
  if (a.integer("transB", 0) != 0) return true;
  found.key_permutation = {0, 1, 3, 2};
  const NodeId outer = found.keys.views.empty() ? NodeId{} : found.keys.views.front();
  const auto perm = outer && m.node(outer).is("Transpose") ? permutation(m, outer) : std::nullopt;
  if (!perm || perm->size() != 4) return true;
  found.keys.views.erase(found.keys.views.begin());
  found.key_permutation = {(*perm)[0], (*perm)[1], (*perm)[3], (*perm)[2]};
  if (found.key_permutation == ir::Ints{0, 1, 2, 3}) found.key_permutation.clear();
  return true;
}

bool match_local(Match& m, bool sums) {
  Local found;
  found.values = m.operand(m.root(), 1);
  if (m.rank(found.values) != 4) return false;
  const NodeId softmax = guarded_softmax(m, m.operand(m.root(), 0));
  const ValueId scores = softmax ? masked_scores(m, m.operand(softmax, 0), sums, found) : ValueId{};
  if (!scores) return false;
  const NodeId product = product_below(m, scores, found.scale);
  if (!product || m.rank(m.operand(product, 0)) != 4 || m.rank(m.operand(product, 1)) != 4) return false;
  m.take(product);
  found.query = scaled_view_of(m, m.operand(product, 0));
  if (!transposed_keys(m, product, found)) return m.refuse("the product transposes its operands");
  found.scale *= found.query.factor * found.keys.factor * m.node(product).attributes.number("alpha", 1);
  if (!fits_attribute(found.scale, m.dtype(found.values))) return m.refuse("the scale has more digits than an attribute");
  return found.scale > 0 ? m.accept(std::move(found)) : m.refuse("a scale that is not positive");
}

bool chooses(Match& m) { return match_local(m, false); }
bool adds(Match& m) { return match_local(m, true); }

bool to_local(const Match& m, Rewriter& w) {
  const Local& found = m.state<Local>();
  const ValueId query = clone_views(w, m, found.query.views, found.query.data);
  ValueId keys = clone_views(w, m, found.keys.views, found.keys.data);
  if (!found.key_permutation.empty()) keys = w("Transpose", {keys}, {{"perm", found.key_permutation}});
  std::vector<std::pair<std::string, ir::Attribute>> how{{"scale", static_cast<float>(found.scale)}};
  if (found.hides) how.emplace_back("hides", int64_t{1});
  if (std::isfinite(found.low)) how.emplace_back("low", static_cast<float>(found.low));
  return replace_root(m, w, w("tenon::LocalAttention", {query, keys, found.values, found.mask}, std::move(how)));
}

struct GroupedHeads {
  ValueId keys, values;
  int64_t times;
};

bool heads_repeat(Match& m) {
  const ValueId keys = m.operand(m.root(), 1), values = m.operand(m.root(), 2);
  const auto k = repeated_heads(m, keys), v = repeated_heads(m, values);
  if (!k || !v || !k->repeats.is_number() || !k->repeats.known_equal(v->repeats) || m.node(m.root()).attributes.integer("repeats", 1) != 1)
    return false;
  for (const auto& [wide, narrow] : {std::pair{keys, k->source}, {values, v->source}})
    if (!(*m.shape(wide))[1].known_equal((*m.shape(narrow))[1] * k->repeats)) return m.refuse("head counts are not known to agree");
  return m.accept(GroupedHeads{k->source, v->source, k->repeats.value()});
}

bool to_grouped(const Match& m, Rewriter& w) {
  const GroupedHeads& found = m.state<GroupedHeads>();
  std::vector<ValueId> inputs = m.node(m.root()).inputs;
  inputs[1] = found.keys;
  inputs[2] = found.values;
  auto how = attributes_except(m.node(m.root()), {"repeats"});
  how.emplace_back("repeats", found.times);
  return replace_root(m, w, w("tenon::LocalAttention", inputs, std::move(how)));
}

bool past_before(Match& m) {
  const auto past = cache_concats_of(m);
  return past && !m.operand(m.root(), 4) && m.node(m.root()).outputs.size() == 1 && m.accept(*past);
}

bool to_past(const Match& m, Rewriter& w) { return replace_with_cached_attention(m, w, m.state<CacheConcats>(), "tenon::LocalAttention"); }

}  // namespace

RULES(onnxruntime_local_attention) {
    .sets = "default",
    .rules =
        {
            {.name = "local_attention",
             .docs = "softmax of scores or a number, whichever a mask says, with 0 for rows of NaN, times values",
             .roots = "MatMul",
             .match = chooses,
             .rewrite = to_local,
             .numerics = Numerics::reassociating,
             .benefit = 9,
             .covered_patterns = "FunctionAttention"},
            {.name = "local_attention_sum",
             .docs = "the same where 0 or -inf is added (a hidden score of NaN or infinity gives NaN)",
             .roots = "MatMul",
             .match = adds,
             .rewrite = to_local,
             .numerics = Numerics::reassociating,
             .finite = true,
             .benefit = 9,
             .covered_patterns = "FunctionAttention"},
            {.name = "local_attention_grouped",
             .docs = "keys and values whose heads are repeated: LocalAttention repeats them itself (grouped queries)",
             .roots = "tenon::LocalAttention",
             .match = heads_repeat,
             .rewrite = to_grouped,
             .benefit = 5,
             .allow_outside_uses = true,
             .covered_patterns = "FunctionAttentionGQA FunctionAttention AttentionGQA"},
            {.name = "local_attention_past",
             .docs = "keys and values joined with earlier ones: LocalAttention joins them itself",
             .roots = "tenon::LocalAttention",
             .match = past_before,
             .rewrite = to_past,
             .benefit = 3,
             .allow_outside_uses = true,
             .covered_patterns = "AttentionGQA MultiHeadAttention3D"},
        },
};

}  // namespace tenon::rules::onnxruntime_local_attention
