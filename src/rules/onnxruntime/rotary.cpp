// SPDX-License-Identifier: Apache-2.0
// Rotary embeddings on heads side by side, and by ONNX Runtime's own ops.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::onnxruntime_rotary {
using namespace rewrite;
namespace {

/// The rotation of [batch, heads, sequence, size] that a reshape and a transpose have made of [batch, sequence, width].
bool apart(Match& m) {
  const NodeId transpose = m.take(m.operand(m.root(), 0), "Transpose");
  if (!transpose || m.node(transpose).attributes.ints("perm") != ir::Ints{0, 2, 1, 3}) return false;
  const NodeId reshape = m.take(m.operand(transpose, 0), "Reshape");
  const DimList *joined = reshape ? m.shape(m.operand(reshape, 0)) : nullptr, *heads = m.shape(m.operand(m.root(), 0));
  if (!joined || !heads || joined->size() != 3 || !(*heads)[1].is_number() || !(*heads)[3].is_number()) return false;
  return (*joined)[0].known_equal((*heads)[0]) && (*joined)[1].known_equal((*heads)[2]) &&
         (*joined)[2].known_equal((*heads)[1] * (*heads)[3]);
}

bool rotated_later(const Match& m, Rewriter& w) {
  const Node& n = m.node(m.root());
  const NodeId transpose = m.nodes[1], reshape = m.nodes[2];
  std::vector<ValueId> inputs = n.inputs;
  inputs[0] = m.operand(reshape, 0);
  auto how = attributes_except(n, {"num_heads"});
  how.emplace_back("num_heads", (*m.shape(n.inputs[0]))[1].value());
  const ValueId y = w(n.op->domain.empty() ? "RotaryEmbedding" : "com.microsoft::RotaryEmbedding", inputs, std::move(how));
  w.replace(m.result(m.root()),
            w("Transpose", {w.clone_with_operands(reshape, {y, m.operand(reshape, 1)})[0]}, {{"perm", ir::Ints{0, 2, 1, 3}}}));
  return m.node(transpose).is("Transpose");
}

/// Only a part of each head is rotated: the kernel then needs the number of heads.
bool is_partial(const Node& rotary) { return rotary.attributes.integer("rotary_embedding_dim", 0) != 0; }

/// Tables of rotations and their ids.
bool with_positions(Match& m) {
  const Node& n = m.node(m.root());
  const ValueId ids = m.operand(m.root(), 3);
  if (m.dtype(n.inputs[0]) != DType::f32 || m.rank(ids) != 2 || m.dtype(ids) != DType::i64) return false;
  const DimList *x = m.shape(n.inputs[0]), *places = m.shape(ids);
  if (x && x->size() == 4 && is_partial(n) && !(*x)[1].is_number()) return m.refuse("a number of heads that is not known");
  return x && m.rank(n.inputs[1]) == 2 && m.rank(n.inputs[2]) == 2 && (*places)[0].known_equal((*x)[0]) &&
         (*places)[1].known_equal((*x)[x->size() == 3 ? 1 : 2]);
}

bool to_contrib(const Match& m, Rewriter& w) {
  const Node& n = m.node(m.root());
  auto how = attributes_except(n, {"num_heads"});
  const DimList& x = *m.shape(n.inputs[0]);
  const int64_t heads = x.size() == 4 && is_partial(n) ? x[1].value() : n.attributes.integer("num_heads", 0);
  if (heads != 0) how.emplace_back("num_heads", heads);
  return replace_root(m, w, w("com.microsoft::RotaryEmbedding", {n.inputs[0], n.inputs[3], n.inputs[1], n.inputs[2]}, std::move(how)));
}

/// x * cos(angle) + rotated * sin(angle).
struct RotaryMatch {
  NodeId add;
  ValueId x, rotated, angle;
  ValueId product;  ///< x * cos(angle)
};

/// The angle whose function `op`, in f16 and with an axis for the heads, is a factor of `product`; the other factor goes to `x`.
ValueId angle_of(const Match& m, ValueId product, std::string_view op, ValueId& x) {
  const NodeId mul = m.producer(product, "Mul");
  for (size_t k : {0, 1}) {
    const NodeId wide = mul ? m.producer(m.operand(mul, k), "Unsqueeze") : NodeId{};
    const NodeId cast = wide && m.ints(m.operand(wide, 1)) == ir::Ints{1} ? m.producer(m.operand(wide, 0), "Cast") : NodeId{};
    const NodeId function = cast && m.dtype(m.result(cast)) == DType::f16 ? m.producer(m.operand(cast, 0), op) : NodeId{};
    if (!function) continue;
    x = m.operand(mul, 1 - k);
    return m.operand(function, 0);
  }
  return {};
}

std::optional<RotaryMatch> rotated(const Match& m, NodeId add) {
  for (size_t k : {0, 1}) {
    RotaryMatch found{add, {}, {}, {}, m.operand(add, k)};
    found.angle = angle_of(m, found.product, "Cos", found.x);
    if (!found.angle || angle_of(m, m.operand(add, 1 - k), "Sin", found.rotated) != found.angle) continue;
    const bool fits =
        m.dtype(found.angle) == DType::f32 && m.rank(found.angle) == 3 && m.rank(found.x) == 4 && m.same_type(found.x, found.rotated);
    if (fits) return found;
  }
  return std::nullopt;
}

/// The first sum after `first` that is a rotation by the same angle, by the same cosines.
std::optional<RotaryMatch> partner(const Match& m, const RotaryMatch& first) {
  std::optional<RotaryMatch> best;
  for (ValueId factor : m.node(m.producer(first.product)).inputs) {
    if (factor == first.x) continue;
    for (const ir::Use& product : m.value(factor).uses) {
      if (!product.node || !m.node(product.node).is("Mul")) continue;
      for (const ir::Use& sum : m.value(m.result(product.node)).uses) {
        if (!sum.node || !m.node(sum.node).is("Add") || !m.graph().is_before(first.add, sum.node)) continue;
        const auto found = rotated(m, sum.node);
        if (found && found->angle == first.angle && (!best || m.graph().is_before(sum.node, best->add))) best = found;
      }
    }
  }
  return best;
}

bool gemma(Match& m) {
  const auto first = rotated(m, m.root());
  const auto second = first ? partner(m, *first) : std::nullopt;
  if (!second) return m.refuse("no two rotations by one angle");
  m.take(second->add);
  m.other_roots.push_back(second->add);
  return m.accept(std::pair(*first, *second));
}

bool to_gemma(const Match& m, Rewriter& w) {
  const auto& [q, k] = m.state<std::pair<RotaryMatch, RotaryMatch>>();
  const auto results = w.many("com.microsoft::GemmaRotaryEmbedding", {q.angle, q.x, q.rotated, k.x, k.rotated}, 2);
  w.replace(m.result(q.add), results[0]);
  w.replace(m.result(k.add), results[1]);
  return true;
}

}  // namespace

RULES(onnxruntime_rotary) {
    .sets = "onnxruntime",
    .rules =
        {
            {.name = "rotary_joined",
             .docs = "heads of one row are rotated before they are split, where Attention then takes them unsplit",
             .roots = "RotaryEmbedding com.microsoft::RotaryEmbedding",
             .match = apart,
             .rewrite = rotated_later,
             .benefit = 10,
             .covered_patterns = "ContribRotaryEmbedding3D"},
            {.name = "rotary_positions",
             .docs = "RotaryEmbedding with positions is ONNX Runtime's own op, which models of every opset may have",
             .roots = "RotaryEmbedding",
             .match = with_positions,
             .rewrite = to_contrib,
             .benefit = 3,
             .covered_patterns = "ContribRotaryEmbedding"},
            {.name = "rotary_gemma",
             .docs = "two rotations by one angle, in f16 with the angles in f32; the CPU build has no kernel",
             .roots = "Add",
             .match = gemma,
             .rewrite = to_gemma,
             .benefit = 5,
             .sets = "onnxruntime_cuda",
             .covered_patterns = "ContribGemmaRotaryEmbedding"},
        },
};

}  // namespace tenon::rules::onnxruntime_rotary
