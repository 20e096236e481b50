// SPDX-License-Identifier: Apache-2.0
// Masked attention whose sizes are not known to fit Attention: as a function of the domain tenon, defined by the nodes it stands for, so
// that whatever they broadcast, it does.
#include <cmath>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/factors.h"
#include "rules/helpers/give_back.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::onnxruntime_local_attention {
using namespace rewrite;
namespace {

struct Local {
  Scaled query, keys;  ///< without the view that turns the keys
  ir::Ints turn;       ///< of the keys after their views; none where they need none
  ValueId mask, values;
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

/// The scores below Where(mask, scores, low), or below scores + Where(mask, 0, -inf) where `sums`.
ValueId masked_scores(Match& m, ValueId value, bool sums, ValueId& mask, double& low) {
  if (!sums) {
    const NodeId where = m.take(value, "Where");
    const auto fill = where && m.is_constant(m.operand(where, 2)) ? m.number(m.operand(where, 2)) : std::nullopt;
    if (!fill || std::isnan(*fill)) return {};
    low = *fill;
    mask = m.operand(where, 0);
    return m.operand(where, 1);
  }
  const NodeId add = m.take(value, "Add");
  for (size_t k : {0, 1}) {
    const NodeId where = add ? m.made_by(m.operand(add, k), "Where") : NodeId{};
    if (!where || !m.is_number(m.operand(where, 1), 0) || m.number(m.operand(where, 2)) != -INFINITY) continue;
    mask = m.operand(where, 0);
    return m.operand(add, 1 - k);
  }
  return {};
}

/// The keys as they stand before they are turned. A product that is fused may turn them itself.
bool turned_keys(Match& m, NodeId product, Local& found) {
  found.keys = scaled_below(m, m.operand(product, 1));
  const ir::Attributes& a = m.node(product).attributes;
  if (a.integer("transA", 0) != 0 || a.integer("transBatchA", 0) != 0 || a.integer("transBatchB", 0) != 0) return false;
  if (a.integer("transB", 0) != 0) return true;
  found.turn = {0, 1, 3, 2};
  const NodeId outer = found.keys.views.empty() ? NodeId{} : found.keys.views.front();
  const auto perm = outer && m.node(outer).is("Transpose") ? permutation(m, outer) : std::nullopt;
  if (!perm || perm->size() != 4) return true;
  found.keys.views.erase(found.keys.views.begin());
  found.turn = {(*perm)[0], (*perm)[1], (*perm)[3], (*perm)[2]};
  if (found.turn == ir::Ints{0, 1, 2, 3}) found.turn.clear();
  return true;
}

bool match_local(Match& m, bool sums) {
  Local found;
  found.values = m.operand(m.root(), 1);
  if (m.rank(found.values) != 4) return false;
  const NodeId softmax = guarded_softmax(m, m.operand(m.root(), 0));
  const ValueId scores = softmax ? masked_scores(m, m.operand(softmax, 0), sums, found.mask, found.low) : ValueId{};
  if (!scores) return false;
  const NodeId plain = m.made_by(scores, "MatMul"), product = plain ? plain : m.made_by(scores, "com.microsoft::FusedMatMul");
  if (!product || m.rank(m.operand(product, 0)) != 4 || m.rank(m.operand(product, 1)) != 4) return false;
  m.take(product);
  found.query = scaled_below(m, m.operand(product, 0));
  if (!turned_keys(m, product, found)) return m.refuse("the product turns its operands");
  found.scale = found.query.factor * found.keys.factor * m.node(product).attributes.number("alpha", 1);
  return found.scale > 0 ? m.keep(std::move(found)) : m.refuse("a scale that is not positive");
}

bool chooses(Match& m) { return match_local(m, false); }
bool adds(Match& m) { return match_local(m, true); }

bool to_local(const Match& m, Rewriter& w) {
  const Local& found = m.kept<Local>();
  const ValueId query = view_again(w, m, found.query.views, found.query.data);
  ValueId keys = view_again(w, m, found.keys.views, found.keys.data);
  if (!found.turn.empty()) keys = w("Transpose", {keys}, {{"perm", found.turn}});
  std::vector<std::pair<std::string, ir::Attribute>> how{{"scale", static_cast<float>(found.scale)}};
  if (std::isfinite(found.low)) how.emplace_back("low", static_cast<float>(found.low));
  return give(m, w, w("tenon::LocalAttention", {query, keys, found.values, found.mask}, std::move(how)));
}

}  // namespace

RULES(onnxruntime_local_attention) {
    .sets = "default",
    .rules =
        {
            {.name = "local_attention",
             .docs = "softmax of scores or a number, by a mask, with 0 for rows of NaN, times values",
             .roots = "MatMul",
             .match = chooses,
             .rewrite = to_local,
             .numerics = Numerics::reassociating,
             .benefit = 9,
             .seeds = "FunctionAttention"},
            {.name = "local_attention_sum",
             .docs = "the same where 0 or -inf is added (a hidden score of NaN or infinity gives NaN)",
             .roots = "MatMul",
             .match = adds,
             .rewrite = to_local,
             .numerics = Numerics::reassociating,
             .finite = true,
             .benefit = 9,
             .seeds = "FunctionAttention"},
        },
};

}  // namespace tenon::rules::onnxruntime_local_attention
