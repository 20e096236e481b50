// SPDX-License-Identifier: Apache-2.0
// softmax(scale * q k^T + mask) v, as exporters write it, to the op Attention on [batch, heads, sequence, head size]. Operands without
// a head axis get one of size 1.
// Proof: the definition of Attention (ONNX 23 and later). Two points need care:
// - ONNX's Attention gives 0 for a row that is masked with -inf everywhere. The plain form gives NaN there, with the guard
//   Where(IsNaN(p), 0, p) it gives 0 for every weight that is NaN. The attribute masked_rows selects the behaviour; it is left out where
//   the mask is known to leave a key to each row.
// - A mask whose last axis is shorter than the keys means something else to Attention than to Add; it is never handed over so.
#include <algorithm>
#include <cmath>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rewrite/verify/element_source.h"
#include "rules/helpers/bounds.h"
#include "rules/helpers/casts.h"
#include "rules/helpers/replace_root.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::fuse_attention {
using namespace rewrite;
namespace {

/// scores + value, Where(condition, scores, value), or Where(condition, value, scores) of a condition that hides.
struct Layer {
  ValueId condition, value;
  bool hides = false;
};

struct Attention {
  ValueId q, kt, k, v;       ///< kt or k: the keys, transposed or not
  std::vector<Layer> masks;  ///< around the scores, outermost first
  double scale = 1;
  double softcap = 0;  ///< cap * tanh(scores / cap) below the masks; 0: none
  bool guarded = false;
  bool may_mask_rows = false;  ///< with -inf, from end to end, or nothing is known of that
};

/// The cap's own factor scales as well.
double scale_of(const Attention& found) { return found.softcap > 0 ? found.scale * found.softcap : found.scale; }

/// The other operand of a product with one number; the number goes into `scale`, and `taker` takes the product.
ValueId strip_scale(const GraphQuery& m, ValueId value, double& scale, Match* taker = nullptr) {
  for (int depth = 0; depth < 4; ++depth) {
    const NodeId mul = m.producer(value, "Mul"), div = mul ? NodeId{} : m.producer(value, "Div");
    const NodeId node = mul ? mul : div;
    if (!node) return value;
    ValueId next;
    for (size_t side : {1, 0}) {
      const ValueId c = m.operand(node, side), data = m.operand(node, 1 - side);
      if (next || (div && side == 0) || !m.is_constant(c) || !m.same_type(data, value)) continue;
      const auto number = m.number(c);
      if (!number || *number == 0) continue;
      scale *= div ? 1 / *number : *number;
      next = data;
    }
    if (!next) return value;
    if (taker) taker->take(node);
    value = next;
  }
  return value;
}

/// Where(IsNaN(p), 0, p) around the softmax.
ValueId strip_guard(Match& m, ValueId value, bool& guarded) {
  const NodeId where = m.producer(value, "Where");
  if (!where) return value;
  const NodeId is_nan = m.producer(m.operand(where, 0), "IsNaN");
  const ValueId p = m.operand(where, 2);
  if (!is_nan || m.operand(is_nan, 0) != p || !m.is_number(m.operand(where, 1), 0) || !m.same_type(p, value)) return value;
  m.take(where);
  m.take(is_nan);
  guarded = true;
  return p;
}

bool leads_to_scores(const Match& m, ValueId value, int depth) {
  if (m.producer(value, "MatMul")) return m.rank(value) == 3 || m.rank(value) == 4;
  const NodeId node = m.producer(value);
  if (!node || depth == 0) return false;
  const Node& n = m.node(node);
  if (n.is("Where")) return leads_to_scores(m, m.operand(node, 1), depth - 1) || leads_to_scores(m, m.operand(node, 2), depth - 1);
  if (n.is("Tanh")) return leads_to_scores(m, m.operand(node, 0), depth - 1);
  if (!n.is("Add") && !n.is("Mul") && !n.is("Div")) return false;
  return leads_to_scores(m, m.operand(node, 0), depth - 1) || leads_to_scores(m, m.operand(node, 1), depth - 1);
}

/// Removes factors from `scores`, which it records, and a cap: of cap * tanh(x) it returns x.
ValueId strip_factor(Match& m, ValueId scores, Attention& found) {
  double factor = 1;
  const ValueId inside = strip_scale(m, scores, factor, &m);
  if (const NodeId tanh = found.softcap == 0 && factor > 0 ? m.take(inside, "Tanh") : NodeId{}) {
    found.softcap = factor;
    return m.operand(tanh, 0);
  }
  found.scale *= factor;
  return inside;
}

/// Takes masks off the scores from the outside in, down to the product. False where something else is there.
bool strip_masks(Match& m, ValueId scores, Attention& found) {
  for (int depth = 0; depth < 6; ++depth) {
    if (const NodeId product = m.take(scores, "MatMul")) {
      found.q = strip_scale(m, m.operand(product, 0), found.scale);
      found.kt = strip_scale(m, m.operand(product, 1), found.scale);
      return true;
    }
    ValueId next;
    const bool capped = found.softcap != 0;  // no mask may be below the cap
    if (const NodeId add = capped ? NodeId{} : m.take(scores, "Add")) {
      const size_t core = leads_to_scores(m, m.operand(add, 0), 4) ? 0 : 1;
      next = m.operand(add, core);
      found.masks.push_back({{}, m.operand(add, 1 - core)});
    } else if (const NodeId where = capped ? NodeId{} : m.take(scores, "Where")) {
      const size_t core = leads_to_scores(m, m.operand(where, 1), 4) ? 1 : 2;
      next = m.operand(where, core);
      found.masks.push_back({m.operand(where, 0), m.operand(where, 3 - core), core == 2});
    } else if (m.producer(scores)) {
      next = strip_factor(m, scores, found);
      if (next == scores || (found.softcap == 0 && !m.producer(next, "MatMul"))) return false;
    }
    if (!next || !m.same_type(next, scores)) return m.refuse("a mask may widen the scores");
    scores = next;
  }
  return false;
}

/// Whether the constant leaves something above -inf to each row.
bool leaves_a_key(const Tensor& t) {
  const int64_t row = t.rank() > 0 ? t.shape().back() : 1;
  int64_t masked = 0;
  for (int64_t i = 0; i < t.count(); ++i) {
    masked = i % row == 0 ? 0 : masked;
    masked += t.number(i) == -INFINITY;
    if (masked == row) return false;
  }
  return true;
}

/// The masks together may put -inf over a whole row.
bool may_mask_a_row(const Match& m, const Attention& found) {
  if (found.masks.size() == 1 && !found.masks[0].condition && m.is_constant(found.masks[0].value)) {
    const Tensor* t = m.graph().tensor_of(found.masks[0].value, 64 << 20);
    if (t && is_float(t->dtype()) && leaves_a_key(*t)) return false;
  }
  double lowest = 0;
  for (const Layer& layer : found.masks) {
    const Bounds bounds = bounds_of(m, layer.value);
    if (!bounds) return true;
    lowest += bounds->first;
  }
  return lowest < -largest_of(m.dtype(found.q));
}

bool shapes_fit(Match& m, const Attention& found) {
  const DimList *q = m.shape(found.q), *kt = m.shape(found.kt), *v = m.shape(found.v);
  const size_t rank = v ? v->size() : 0;
  if (!q || !kt || (rank != 3 && rank != 4) || q->size() != rank || kt->size() != rank) return m.refuse("not of rank 3 or 4");
  if (!(*q)[0].known_equal((*kt)[0]) || !(*q)[0].known_equal((*v)[0])) return m.refuse("batch sizes are not known to agree");
  if (!kt->back().known_equal((*v)[rank - 2])) return m.refuse("key lengths are not known to agree");
  if (rank == 4) {
    if (!(*kt)[1].known_equal((*v)[1])) return m.refuse("head counts are not known to agree");
    if (!(*q)[1].known_equal((*kt)[1]) && !(*kt)[1].known_equal(1)) return m.refuse("head counts are not known to agree");
  }
  return m.dtype(found.q) == m.dtype(found.kt) && m.dtype(found.q) == m.dtype(found.v);
}

bool mask_fits(Match& m, const Attention& found, ValueId mask) {
  const DimList* shape = m.shape(mask);
  const DimList& kt = *m.shape(found.kt);
  if (!shape || shape->size() > kt.size()) return m.refuse("the mask's rank is not known, or too high");
  const Dim keys = kt.back();
  if (!shape->empty() && shape->back().known_equal(keys)) return true;
  return keys.is_number() ? true : m.refuse("the mask is not as long as the keys");
}

bool layers_fit(Match& m, const Attention& found) {
  for (const Layer& layer : found.masks) {
    if (!mask_fits(m, found, layer.condition ? layer.condition : layer.value)) return false;
    if (!layer.condition && m.dtype(layer.value) != m.dtype(found.q)) return false;
    // scores + fill == fill for every score that a network makes only where the fill is huge.
    const auto number = layer.condition ? m.number(layer.value) : std::nullopt;
    if (layer.condition && (!number || *number > -1e30)) return m.refuse("the fill of a masking Where is not large");
  }
  return true;
}

bool match_attention(Match& m) {
  Attention found;
  found.v = m.operand(m.root(), 1);
  const auto rank = m.rank(found.v);
  if (rank != 3 && rank != 4) return false;
  const ValueId p = strip_guard(m, m.operand(m.root(), 0), found.guarded);
  const NodeId softmax = m.take(p, "Softmax");
  if (!softmax || m.axis(softmax, "axis", -1, p) != *rank - 1) return false;
  if (!strip_masks(m, m.operand(softmax, 0), found) || found.scale <= 0) return false;
  if (!shapes_fit(m, found)) return false;
  const DType dtype = m.dtype(found.q);
  if (!fits_attribute(scale_of(found), dtype) || !fits_attribute(found.softcap, dtype))
    return m.refuse("the scale has more digits than an attribute");
  if (!layers_fit(m, found)) return false;
  found.may_mask_rows = may_mask_a_row(m, found);
  return m.accept(std::move(found));
}

bool chooses(const Match& m) {
  const auto& masks = m.state<Attention>().masks;
  return std::ranges::any_of(masks, [](const Layer& layer) { return bool(layer.condition); });
}
bool match_additive(Match& m) { return match_attention(m) && !chooses(m); }
bool match_choice(Match& m) { return match_attention(m) && chooses(m); }

/// The condition of Where(condition, 0, -inf): Attention takes it as it is.
ValueId as_condition(const Match& m, ValueId mask) {
  const NodeId where = m.producer(mask, "Where");
  if (!where || !m.is_number(m.operand(where, 1), 0) || m.number(m.operand(where, 2)) != -INFINITY) return {};
  return m.same_shape(m.operand(where, 0), mask) ? m.operand(where, 0) : ValueId{};
}

ValueId one_mask(const Match& m, Rewriter& w, const Attention& found) {
  ValueId mask;
  if (found.masks.size() == 1 && !found.masks[0].condition)
    if (const ValueId condition = as_condition(m, found.masks[0].value)) return condition;
  const DType dtype = m.dtype(found.q);
  for (auto it = found.masks.rbegin(); it != found.masks.rend(); ++it) {
    if (!it->condition) {
      mask = mask ? w("Add", {mask, it->value}) : it->value;
      continue;
    }
    ValueId visible = mask ? mask : w.scalar(dtype, 0), low = w.scalar(dtype, *m.number(it->value));
    if (it->hides) std::swap(visible, low);
    mask = w("Where", {it->condition, visible, low});
  }
  return mask;
}

/// Brings the mask to at least two axes, the last as long as the keys.
ValueId full_mask(const Match& m, Rewriter& w, ValueId mask, Dim keys) {
  if (!mask) return mask;
  const DimList shape = *m.graph().value(mask).type.shape;
  if (shape.size() >= 2 && shape.back().known_equal(keys)) return mask;
  return w("Expand", {mask, w.ints({1, keys.is_number() ? keys.value() : 1})});
}

/// A head axis of size 1 where there is none.
ValueId with_heads(const Match& m, Rewriter& w, ValueId value, size_t rank) {
  if (rank == 4 || !value || m.graph().value(value).type.rank() != 3) return value;
  return w("Unsqueeze", {value, w.ints({1})});
}

bool to_attention(const Match& m, Rewriter& w) {
  const Attention& found = m.state<Attention>();
  const DimList& kt = *m.shape(found.kt);
  const size_t rank = kt.size();
  const ir::Ints swap = rank == 4 ? ir::Ints{0, 1, 3, 2} : ir::Ints{0, 2, 1};
  const ValueId mask = full_mask(m, w, one_mask(m, w, found), kt.back());
  std::vector<ValueId> inputs{found.q, w("Transpose", {found.kt}, {{"perm", swap}}), found.v};
  if (mask) inputs.push_back(mask);
  for (ValueId& v : inputs) v = with_heads(m, w, v, rank);
  std::vector<std::pair<std::string, ir::Attribute>> how;
  how.emplace_back("scale", static_cast<float>(scale_of(found)));
  if (found.softcap > 0) how.emplace_back("softcap", static_cast<float>(found.softcap));
  // Where no row can be hidden and the scores are finite numbers, the guard has nothing to do.
  if (found.guarded && (found.may_mask_rows || !chooses(m))) how.emplace_back("masked_rows", std::string("clean"));
  else if (found.may_mask_rows) how.emplace_back("masked_rows", std::string("nan"));
  ValueId y = w("Attention", inputs, std::move(how));
  if (rank == 3) y = w("Squeeze", {y, w.ints({1})});
  return replace_root(m, w, y);
}

}  // namespace

RULES(fuse_attention) {
    .rules =
        {
            {.name = "attention",
             .docs = "softmax(scale * q k^T + masks) v is Attention",
             .roots = "MatMul",
             .match = match_additive,
             .rewrite = to_attention,
             .numerics = Numerics::reassociating,
             .benefit = 9,
             .sets = "tenon default",
             .covered_patterns = "FunctionAttention"},
            {.name = "attention_choice",
             .docs = "the same with masks that choose, Where(m, scores, low) (a hidden score of NaN or infinity gives NaN)",
             .roots = "MatMul",
             .match = match_choice,
             .rewrite = to_attention,
             .numerics = Numerics::reassociating,
             .finite = true,
             .benefit = 9,
             .sets = "tenon default"},
        },
};

}  // namespace tenon::rules::fuse_attention
