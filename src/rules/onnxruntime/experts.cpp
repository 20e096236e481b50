// SPDX-License-Identifier: Apache-2.0
// A mixture of experts that is written out: the weights of each token's best expert are gathered, and two maps with an activation between
// them are taken of it.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::onnxruntime_experts {
using namespace rewrite;
namespace {

struct Map {
  ValueId weights, bias;
};
struct Experts {
  NodeId best;  ///< the TopK that chooses one expert a token
  ValueId x, router;
  Map first, second;
  std::string activation;
};

/// TopK(Softmax(router), 1) along the last of two axes.
bool chooses_one(Match& m, NodeId best, ValueId& router) {
  const ValueId likes = m.operand(best, 0);
  if (m.rank(likes) != 2 || m.ints(m.operand(best, 1)) != ir::Ints{1} || m.axis(best, "axis", -1, likes) != 1) return false;
  const NodeId softmax = m.node(best).attributes.integer("largest", 1) != 0 ? m.producer(likes, "Softmax") : NodeId{};
  if (!softmax || m.axis(softmax, "axis", -1, likes) != 1) return false;
  router = m.operand(softmax, 0);
  return true;
}

/// The TopK whose result `index`, reshaped or not, is `value`.
NodeId chosen_by(const Match& m, ValueId value, size_t index) {
  const NodeId view = m.producer(value), best = view && is_reshape(m.node(view)) ? m.producer(m.operand(view, 0)) : view;
  const ValueId made = best == view ? value : m.operand(view, 0);
  return best && m.node(best).is("TopK") && m.result(best, index) == made ? best : NodeId{};
}

/// The value from which `value` is gathered along axis 0 by the ids of the experts.
ValueId picked(const Match& m, ValueId value, NodeId best) {
  const NodeId gather = m.producer(value, "Gather");
  const bool flat = gather && m.rank(m.operand(gather, 1)) == 1 && chosen_by(m, m.operand(gather, 1), 1) == best;
  return flat && m.axis(gather, "axis", 0, m.operand(gather, 0)) == 0 ? m.operand(gather, 0) : ValueId{};
}

/// Squeeze(Unsqueeze(x) * W^T) + b of picked W and b, b where there is one. Returns x.
ValueId mapped(Match& m, ValueId value, NodeId best, Map& map) {
  const NodeId add = m.producer(value, "Add");
  for (size_t k : {0, 1})
    if (const ValueId bias = add ? picked(m, m.operand(add, k), best) : ValueId{}) {
      map.bias = bias;
      value = m.operand(add, 1 - k);
      break;
    }
  const NodeId narrow = m.producer(value, "Squeeze");
  if (!narrow || m.ints(m.operand(narrow, 1)) != ir::Ints{1}) return {};
  const NodeId plain = m.producer(m.operand(narrow, 0), "MatMul");
  const NodeId product = plain ? plain : m.producer(m.operand(narrow, 0), "com.microsoft::FusedMatMul");
  if (!product) return {};
  ValueId transposed = m.operand(product, 1);
  if (plain) {
    const NodeId transpose = m.producer(transposed, "Transpose");
    if (!transpose || permutation(m, transpose) != ir::Ints{0, 2, 1}) return {};
    transposed = m.operand(transpose, 0);
  } else {
    const ir::Attributes& a = m.node(product).attributes;
    if (a.number("alpha", 1) != 1 || a.integer("transB", 0) != 1 || a.integer("transA", 0) != 0) return {};
    if (a.integer("transBatchA", 0) != 0 || a.integer("transBatchB", 0) != 0) return {};
  }
  map.weights = picked(m, transposed, best);
  const NodeId wide = map.weights ? m.producer(m.operand(product, 0), "Unsqueeze") : NodeId{};
  return wide && m.ints(m.operand(wide, 1)) == ir::Ints{1} ? m.operand(wide, 0) : ValueId{};
}

/// The name that MoE has for the activation; its operand goes to `inside`.
std::string activation_of(const Match& m, ValueId value, ValueId& inside) {
  const NodeId node = m.producer(value);
  if (!node) return {};
  const Node& n = m.node(node);
  inside = m.operand(node, 0);
  if (n.is("Relu")) return "relu";
  if (n.is("Gelu") && n.attributes.text("approximate", "none") == "tanh") return "gelu";
  if (n.is("com.microsoft", "FastGelu") && !m.operand(node, 1)) return "gelu";
  if (n.is("Swish") && n.attributes.number("alpha", 1) == 1) return "silu";
  return n.is("com.microsoft", "QuickGelu") && n.attributes.number("alpha", 1.702F) == 1 ? "silu" : "";
}

/// [experts, out, in] and [experts, out], from `in` to `out` columns.
bool fits(const Match& m, const Map& map, Dim experts, const Dim* in, const Dim* out) {
  const DimList *weights = m.shape(map.weights), *bias = m.shape(map.bias);
  if (!weights || weights->size() != 3 || !(*weights)[0].known_equal(experts)) return false;
  if ((in && !(*weights)[2].known_equal(*in)) || (out && !(*weights)[1].known_equal(*out))) return false;
  return !map.bias || (bias && bias->size() == 2 && (*bias)[0].known_equal(experts) && (*bias)[1].known_equal((*weights)[1]));
}

bool shapes_fit(Match& m, const Experts& found) {
  const DimList *x = m.shape(found.x), *router = m.shape(found.router);
  if (!x || !router || x->size() != 2 || m.dtype(found.x) != DType::f32) return false;
  if (!(*x)[0].known_equal((*router)[0])) return m.refuse("the router speaks of other tokens");
  return fits(m, found.first, (*router)[1], &(*x)[1], nullptr) && fits(m, found.second, (*router)[1], nullptr, &(*x)[1]);
}

bool mixture(Match& m) {
  for (size_t side : {0, 1}) {
    Experts found;
    const ValueId share = m.operand(m.root(), side);
    found.best = chosen_by(m, share, 0);
    if (!found.best || !m.same_shape(share, m.result(found.best)) || !chooses_one(m, found.best, found.router)) continue;
    const ValueId hidden = mapped(m, m.operand(m.root(), 1 - side), found.best, found.second);
    ValueId inside;
    found.activation = hidden ? activation_of(m, hidden, inside) : "";
    if (found.activation.empty()) continue;
    found.x = mapped(m, inside, found.best, found.first);
    if (found.x && shapes_fit(m, found)) return m.accept(std::move(found));
  }
  return false;
}

bool to_moe(const Match& m, Rewriter& w) {
  const Experts& f = m.state<Experts>();
  std::vector<ValueId> inputs{f.x, f.router, f.first.weights, f.first.bias, f.second.weights, f.second.bias};
  if (!f.second.bias) inputs.pop_back();
  return replace_root(m, w, w("com.microsoft::MoE", inputs, {{"k", int64_t{1}}, {"activation_type", f.activation}}));
}

}  // namespace

RULES(onnxruntime_experts) {
    .sets = "onnxruntime",
    .rules =
        {
            {.name = "experts",
             .docs =
                 "the best of several experts, with Relu, Gelu by tanh or x * sigmoid(x) between their maps, with biases or without, is MoE",
             .roots = "Mul",
             .match = mixture,
             .rewrite = to_moe,
             .numerics = Numerics::reassociating,
             .benefit = 9,
             .allow_outside_uses = true,
             .covered_patterns = "MoE"},
        },
};

}  // namespace tenon::rules::onnxruntime_experts
