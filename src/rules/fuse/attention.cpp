// SPDX-License-Identifier: Apache-2.0
// softmax(scale * q k^T + mask) v, as exporters write it, to the op Attention on [batch, heads, sequence, head size]. Operands without
// a head axis get one of size 1.
// Proof: the definition of Attention (ONNX 23 and later). Two points need care:
// - ONNX's Attention gives 0 for a row that is masked with -inf everywhere. The plain form gives NaN there, with the guard
//   Where(IsNaN(p), 0, p) it gives 0 for every weight that is NaN. The attribute masked_rows says which; it is left out where the mask is
//   known to leave a key to each row.
// - A mask whose last axis is shorter than the keys means something else to Attention than to Add; it is never handed over so.
#include <algorithm>
#include <cmath>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rewrite/verify/element_source.h"
#include "rules/helpers/casts.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::fuse_attention {
using namespace rewrite;
namespace {

/// scores + value, or Where(condition, scores, value).
struct Layer {
  ValueId condition, value;
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
ValueId strip_scale(const Look& m, ValueId value, double& scale, Match* taker = nullptr) {
  for (int depth = 0; depth < 4; ++depth) {
    const NodeId mul = m.made_by(value, "Mul"), div = mul ? NodeId{} : m.made_by(value, "Div");
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
  const NodeId where = m.made_by(value, "Where");
  if (!where) return value;
  const NodeId is_nan = m.made_by(m.operand(where, 0), "IsNaN");
  const ValueId p = m.operand(where, 2);
  if (!is_nan || m.operand(is_nan, 0) != p || !m.is_number(m.operand(where, 1), 0) || !m.same_type(p, value)) return value;
  m.take(where);
  m.take(is_nan);
  guarded = true;
  return p;
}

bool leads_to_scores(const Match& m, ValueId value, int depth) {
  if (m.made_by(value, "MatMul")) return m.rank(value) == 3 || m.rank(value) == 4;
  const NodeId node = m.producer(value);
  if (!node || depth == 0) return false;
  const Node& n = m.node(node);
  if (n.is("Where")) return leads_to_scores(m, m.operand(node, 1), depth - 1);
  if (n.is("Tanh")) return leads_to_scores(m, m.operand(node, 0), depth - 1);
  if (!n.is("Add") && !n.is("Mul") && !n.is("Div")) return false;
  return leads_to_scores(m, m.operand(node, 0), depth - 1) || leads_to_scores(m, m.operand(node, 1), depth - 1);
}

/// What a number's products are taken of: cap * tanh(x) gives x and notes the cap.
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

/// Takes masks off the scores from the outside in, down to the product. False where something else stands there.
bool strip_masks(Match& m, ValueId scores, Attention& found) {
  for (int depth = 0; depth < 6; ++depth) {
    if (const NodeId product = m.take(scores, "MatMul")) {
      found.q = strip_scale(m, m.operand(product, 0), found.scale);
      found.kt = strip_scale(m, m.operand(product, 1), found.scale);
      return true;
    }
    ValueId next;
    const bool capped = found.softcap != 0;  // no mask may stand below the cap
    if (const NodeId add = capped ? NodeId{} : m.take(scores, "Add")) {
      const size_t core = leads_to_scores(m, m.operand(add, 0), 4) ? 0 : 1;
      next = m.operand(add, core);
      found.masks.push_back({{}, m.operand(add, 1 - core)});
    } else if (const NodeId where = capped ? NodeId{} : m.take(scores, "Where")) {
      next = m.operand(where, 1);
      found.masks.push_back({m.operand(where, 0), m.operand(where, 2)});
    } else if (m.producer(scores)) {
      next = strip_factor(m, scores, found);
      if (next == scores || (found.softcap == 0 && !m.made_by(next, "MatMul"))) return false;
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

/// Between which numbers the elements lie; nullopt where that is not known, or one is no number.
using Bounds = std::optional<std::pair<double, double>>;

Bounds united(const Bounds& a, const Bounds& b) {
  return a && b ? Bounds({std::min(a->first, b->first), std::max(a->second, b->second)}) : std::nullopt;
}

/// What may round to an infinity of the dtype is one.
Bounds stored(Bounds bounds, DType dtype) {
  if (!bounds || std::isnan(bounds->first) || std::isnan(bounds->second)) return std::nullopt;
  const double largest = largest_of(dtype);
  if (bounds->first < -largest) bounds->first = -INFINITY;
  if (bounds->second > largest) bounds->second = INFINITY;
  return bounds;
}

Bounds bounds_of_constant(const Tensor* t) {
  if (!t || !is_float(t->dtype()) || t->count() == 0) return std::nullopt;
  double low = INFINITY, high = -INFINITY;
  for (int64_t i = 0; i < t->count(); ++i) {
    const double v = t->number(i);
    if (std::isnan(v)) return std::nullopt;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  return Bounds({low, high});
}

Bounds product_of(const Bounds& a, const Bounds& b) {
  if (!a || !b) return std::nullopt;
  const double corners[] = {a->first * b->first, a->first * b->second, a->second * b->first, a->second * b->second};
  for (double c : corners)
    if (std::isnan(c)) return std::nullopt;
  return Bounds({*std::ranges::min_element(corners), *std::ranges::max_element(corners)});
}

Bounds bounds_of(const Match& m, ValueId value, int depth = 12) {
  if (!value || depth == 0) return std::nullopt;
  if (m.is_constant(value)) return bounds_of_constant(m.graph().tensor_of(value, 64 << 20));
  const NodeId node = m.producer(value);
  if (!node) return std::nullopt;
  const Node& n = m.node(node);
  const auto operand = [&](size_t i) { return bounds_of(m, m.operand(node, i), depth - 1); };
  const DType dtype = m.dtype(value);
  if (n.is("Where")) return united(operand(1), operand(2));
  if (n.is("Add") || n.is("Sub")) {
    const Bounds a = operand(0), b = operand(1);
    if (!a || !b) return std::nullopt;
    const bool adds = n.is("Add");
    return stored(Bounds({a->first + (adds ? b->first : -b->second), a->second + (adds ? b->second : -b->first)}), dtype);
  }
  if (n.is("Mul")) return stored(product_of(operand(0), operand(1)), dtype);
  if (n.is("Cast")) {
    const DType from = m.dtype(m.operand(node, 0));
    if (from == DType::boolean) return Bounds({0, 1});
    if (is_integer(from))
      return stored(Bounds({is_signed(from) ? -std::ldexp(1, bits_of(from) - 1) : 0, std::ldexp(1, bits_of(from))}), dtype);
    return is_float(from) ? stored(operand(0), dtype) : std::nullopt;
  }
  for (std::string_view op : {"Expand", "Reshape", "Unsqueeze", "Squeeze", "Slice", "Transpose", "Identity", "Gather"})
    if (n.is(op)) return operand(0);
  return std::nullopt;
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
  for (const Layer& layer : found.masks) {
    if (!mask_fits(m, found, layer.condition ? layer.condition : layer.value)) return false;
    if (!layer.condition && m.dtype(layer.value) != m.dtype(found.q)) return false;
    // scores + fill == fill for every score that a network makes only where the fill is huge.
    const auto number = layer.condition ? m.number(layer.value) : std::nullopt;
    if (layer.condition && (!number || *number > -1e30)) return m.refuse("the fill of a masking Where is not large");
  }
  found.may_mask_rows = may_mask_a_row(m, found);
  m.keep(std::move(found));
  return true;
}

bool chooses(const Match& m) {
  const auto& masks = m.kept<Attention>().masks;
  return std::ranges::any_of(masks, [](const Layer& layer) { return bool(layer.condition); });
}
bool match_additive(Match& m) { return match_attention(m) && !chooses(m); }
bool match_choice(Match& m) { return match_attention(m) && chooses(m); }

/// The condition of Where(condition, 0, -inf): Attention takes it as it is.
ValueId as_condition(const Match& m, ValueId mask) {
  const NodeId where = m.made_by(mask, "Where");
  if (!where || !m.is_number(m.operand(where, 1), 0) || m.number(m.operand(where, 2)) != -INFINITY) return {};
  return m.same_shape(m.operand(where, 0), mask) ? m.operand(where, 0) : ValueId{};
}

ValueId one_mask(const Match& m, Rewriter& w, const Attention& found) {
  ValueId mask;
  if (found.masks.size() == 1 && !found.masks[0].condition)
    if (const ValueId condition = as_condition(m, found.masks[0].value)) return condition;
  const DType dtype = m.dtype(found.q);
  for (auto it = found.masks.rbegin(); it != found.masks.rend(); ++it) {
    if (it->condition) mask = w("Where", {it->condition, mask ? mask : w.scalar(dtype, 0), w.scalar(dtype, *m.number(it->value))});
    else mask = mask ? w("Add", {mask, it->value}) : it->value;
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
  const Attention& found = m.kept<Attention>();
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
  if (found.guarded) how.emplace_back("masked_rows", std::string("clean"));
  else if (found.may_mask_rows) how.emplace_back("masked_rows", std::string("nan"));
  ValueId y = w("Attention", inputs, std::move(how));
  if (rank == 3) y = w("Squeeze", {y, w.ints({1})});
  w.replace(m.result(m.root()), y);
  return true;
}

/// Operands of rank 3 with the heads side by side in the last axis.
bool joined_heads(Match& m) {
  const auto& a = m.node(m.root()).attributes;
  for (size_t k : {0, 1, 2}) {
    const DimList* shape = m.shape(m.operand(m.root(), k));
    if (!shape || shape->size() != 3 || !shape->back().is_number()) return false;
  }
  return a.integer("q_num_heads", 0) > 0 && a.integer("kv_num_heads", 0) > 0;
}

bool split_heads(const Match& m, Rewriter& w) {
  const Node& node = m.node(m.root());
  std::vector<ValueId> inputs = node.inputs;
  for (size_t k : {0, 1, 2}) {
    const int64_t heads = node.attributes.integer(k == 0 ? "q_num_heads" : "kv_num_heads", 1);
    const ValueId parts = w("Reshape", {inputs[k], w.ints({0, 0, heads, m.shape(inputs[k])->back().value() / heads})});
    inputs[k] = w("Transpose", {parts}, {{"perm", ir::Ints{0, 2, 1, 3}}});
  }
  std::vector<std::pair<std::string, ir::Attribute>> how;
  for (const auto& [name, value] : node.attributes)
    if (name != "q_num_heads" && name != "kv_num_heads") how.emplace_back(name, value);
  auto results = w.many("Attention", inputs, node.outputs.size(), std::move(how));
  if (results.empty() || !results[0]) return false;
  const int64_t width = node.attributes.integer("q_num_heads", 1) * m.graph().value(results[0]).type.dim(3).value();
  results[0] = w("Reshape", {w("Transpose", {results[0]}, {{"perm", ir::Ints{0, 2, 1, 3}}}), w.ints({0, 0, width})});
  for (size_t i = 0; i < results.size(); ++i)
    if (m.result(m.root(), i)) w.replace(m.result(m.root(), i), results[i]);
  return true;
}

/// Reshape(Expand(Unsqueeze(x, 2))): each head of x several times in a row. Returns x.
ValueId repeated_heads(const Match& m, ValueId value) {
  const NodeId reshape = m.made_by(value, "Reshape");
  const NodeId expand = reshape ? m.made_by(m.operand(reshape, 0), "Expand") : NodeId{};
  const NodeId split = expand ? m.producer(m.operand(expand, 0)) : NodeId{};
  if (!split || !(m.node(split).is("Unsqueeze") || m.node(split).is("Reshape"))) return {};
  const ValueId source = m.operand(split, 0);
  const DimList *out = m.shape(value), *wide = m.shape(m.result(expand)), *narrow = m.shape(m.result(split)), *in = m.shape(source);
  if (!out || !wide || !narrow || !in || out->size() != 4 || wide->size() != 5 || narrow->size() != 5 || in->size() != 4) return {};
  const auto same = [](Dim a, Dim b) { return a.known_equal(b); };
  const bool fits = same((*narrow)[2], 1) && same((*in)[0], (*narrow)[0]) && same((*in)[1], (*narrow)[1]) && same((*in)[2], (*narrow)[3]) &&
                    same((*in)[3], (*narrow)[4]) && same((*in)[0], (*wide)[0]) && same((*in)[1], (*wide)[1]) &&
                    same((*in)[2], (*wide)[3]) && same((*in)[3], (*wide)[4]) && same((*in)[0], (*out)[0]) && same((*in)[2], (*out)[2]) &&
                    same((*in)[3], (*out)[3]);
  return fits ? source : ValueId{};
}

using Pair = std::pair<ValueId, ValueId>;
bool grouped(Match& m) {
  const ValueId k = repeated_heads(m, m.operand(m.root(), 1)), v = repeated_heads(m, m.operand(m.root(), 2));
  if (!k || !v || m.operand(m.root(), 4) || !(*m.shape(k))[1].known_equal((*m.shape(v))[1])) return false;
  m.keep(Pair{k, v});
  return true;
}

bool to_grouped(const Match& m, Rewriter& w) {
  std::vector<ValueId> inputs = m.node(m.root()).inputs;
  std::tie(inputs[1], inputs[2]) = m.kept<Pair>();
  w.replace(m.result(m.root()), w.again(m.root(), inputs)[0]);
  return true;
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
             .seeds = "FunctionAttention"},
            {.name = "attention_choice",
             .docs = "the same with masks that choose, Where(m, scores, low) (a hidden score of NaN or infinity gives NaN)",
             .roots = "MatMul",
             .match = match_choice,
             .rewrite = to_attention,
             .numerics = Numerics::reassociating,
             .finite = true,
             .benefit = 9,
             .sets = "tenon default"},
            {.name = "attention_heads",
             .docs = "Attention on heads side by side: split and turned in plain sight, where views fold into the products before",
             .roots = "Attention",
             .match = joined_heads,
             .rewrite = split_heads,
             .benefit = 6,
             .shared = true},
            {.name = "attention_grouped",
             .docs = "keys and values whose heads are repeated: Attention repeats them itself (grouped queries)",
             .roots = "Attention",
             .match = grouped,
             .rewrite = to_grouped,
             .benefit = 5,
             .shared = true,
             .sets = "tenon default",
             .seeds = "FunctionAttentionGQA AttentionGQA"},
        },
};

}  // namespace tenon::rules::fuse_attention
