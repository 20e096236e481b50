// SPDX-License-Identifier: Apache-2.0
// x * cos + rotated(x) * sin to RotaryEmbedding, on [batch, heads, sequence, size]. Both spellings of `rotated` that exporters write:
// - halves: Concat(-x[size/2:], x[:size/2]), with cos and sin the same in both halves (LLaMA, Qwen, GPT-NeoX);
// - pairs: (-x1, x0, -x3, x2, ...), with cos and sin the same for both of a pair (GPT-J).
// Proof: with c and s of half the size, both forms are c*a - s*b and s*a + c*b for the elements a, b that belong together: the definition
// of RotaryEmbedding, product by product.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/last_axis_slice.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::fuse_rotary {
using namespace rewrite;
namespace {

struct Rotary {
  ValueId x, cosine, sine;
  int64_t size = 0;
  bool interleaved = false;
};

/// Element by element, or along other axes than the last.
ValueId below(const Match& m, NodeId node) {
  const Node& n = m.node(node);
  for (std::string_view op : {"Cos", "Sin", "Cast", "Unsqueeze", "Squeeze", "Expand", "Identity"})
    if (n.is(op)) return m.operand(node, 0);
  if (n.is("Mul") || n.is("Div"))
    for (size_t side : {0, 1})
      if (m.number(m.operand(node, 1 - side))) return m.operand(node, side);
  return {};
}

/// Concat(a, a), or each element of a twice in a row.
bool made_of_pairs(const Match& m, NodeId node, const Rotary& found) {
  const ValueId value = m.result(node);
  const Node& n = m.node(node);
  if (!found.interleaved)
    return n.is("Concat") && n.inputs.size() == 2 && n.inputs[0] == n.inputs[1] && m.axis(node, "axis", -1, value) == *m.rank(value) - 1;
  const NodeId wide = n.is("Reshape") ? m.producer(n.inputs[0]) : NodeId{};
  const auto pair = wide ? last_axis_size(m, n.inputs[0]) : std::nullopt;
  const DimList *before = wide ? m.shape(n.inputs[0]) : nullptr, *after = m.shape(value);
  if (!pair || *pair != 2 || !after || before->size() != after->size() + 1) return false;
  for (size_t i = 0; i + 1 < after->size(); ++i)
    if (!(*before)[i].known_equal((*after)[i])) return false;
  const auto narrow = last_axis_size(m, m.operand(wide, 0));
  if (m.node(wide).is("Expand")) return narrow == 1 && *m.rank(m.operand(wide, 0)) == static_cast<int>(before->size());
  return m.node(wide).is("Concat") && m.node(wide).inputs.size() == 2 && m.operand(wide, 0) == m.operand(wide, 1) && narrow == 1 &&
         m.axis(wide, "axis", -1, n.inputs[0]) == static_cast<int>(after->size());
}

bool repeats(const Match& m, ValueId value, const Rotary& found) {
  for (int depth = 0; depth < 12; ++depth) {
    const NodeId node = m.producer(value);
    if (!node || last_axis_size(m, value) != found.size) return false;
    if (made_of_pairs(m, node, found)) return true;
    value = below(m, node);
    if (!value) return false;
  }
  return false;
}

/// [batch or 1, 1, sequence, size], leading ones left out.
bool broadcasts_over_heads(const Match& m, ValueId angle, ValueId x) {
  const DimList *shape = m.shape(angle), *full = m.shape(x);
  if (!shape || !full || full->size() != 4 || shape->size() < 2 || shape->size() > 4) return false;
  const auto dim = [&](size_t from_end) { return from_end <= shape->size() ? (*shape)[shape->size() - from_end] : Dim(1); };
  return dim(1).known_equal((*full)[3]) && dim(2).known_equal((*full)[2]) && dim(3).known_equal(1) &&
         (dim(4).known_equal(1) || dim(4).known_equal((*full)[0]));
}

/// rotated * sin, in either order.
bool match_sine(Match& m, NodeId product, Rotary& found) {
  const auto taken = m.nodes;
  for (size_t side : {0, 1}) {
    m.nodes = taken;
    const auto rotated = rotated_halves(m, m.operand(product, side));
    if (!rotated || rotated->size < 0) continue;
    found = {rotated->x, {}, m.operand(product, 1 - side), rotated->size, rotated->interleaved};
    return true;
  }
  return false;
}

bool angles_fit(Match& m, const Rotary& found) {
  for (ValueId angle : {found.cosine, found.sine}) {
    if (!broadcasts_over_heads(m, angle, found.x)) return m.refuse("the angles differ from head to head");
    if (!repeats(m, angle, found)) return m.refuse("the angles are not known to repeat");
  }
  return true;
}

bool match_rotary(Match& m) {
  if (m.rank(m.result(m.root())) != 4) return false;
  for (size_t side : {0, 1}) {
    const NodeId straight = m.producer(m.operand(m.root(), side), "Mul"), crossed = m.producer(m.operand(m.root(), 1 - side), "Mul");
    Rotary found;
    m.nodes = {m.root()};
    if (!straight || !crossed || !match_sine(m, crossed, found)) continue;
    m.take(straight);
    m.take(crossed);
    const size_t at = m.operand(straight, 0) == found.x ? 0 : 1;
    found.cosine = m.operand(straight, 1 - at);
    if (m.operand(straight, at) != found.x || !m.same_type(found.x, m.result(m.root()))) return false;
    return angles_fit(m, found) && m.accept(found);
  }
  return false;
}

/// [batch or 1, sequence, size / 2]
ValueId cache_of(const Match& m, Rewriter& w, ValueId angle, const Rotary& found) {
  const size_t rank = m.shape(angle)->size();
  if (rank == 4) angle = w("Squeeze", {angle, w.ints({1})});
  if (rank == 2) angle = w("Unsqueeze", {angle, w.ints({0})});
  const int64_t end = found.interleaved ? found.size : found.size / 2;
  return w("Slice", {angle, w.ints({0}), w.ints({end}), w.ints({2}), w.ints({found.interleaved ? 2 : 1})});
}

bool to_rotary(const Match& m, Rewriter& w) {
  const Rotary& found = m.state<Rotary>();
  const ValueId cosine = cache_of(m, w, found.cosine, found), sine = cache_of(m, w, found.sine, found);
  return replace_root(m, w, w("RotaryEmbedding", {found.x, cosine, sine}, {{"interleaved", int64_t{found.interleaved}}}));
}

}  // namespace

RULES(fuse_rotary) {
    .rules =
        {
            {.name = "rotary_embedding",
             .docs = "x * cos + rotated(x) * sin, by halves (LLaMA, Qwen) or by pairs (GPT-J)",
             .roots = "Add",
             .match = match_rotary,
             .rewrite = to_rotary,
             .numerics = Numerics::reassociating,
             .benefit = 8,
             .sets = "tenon default",
             .covered_patterns = "FunctionHalfRotaryEmbedding RotaryEmbedding"},
        },
};

}  // namespace tenon::rules::fuse_rotary
