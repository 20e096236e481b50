// SPDX-License-Identifier: Apache-2.0
// An activation right after a product can be computed with it: what only moves elements comes after. Exact: the activation treats every
// element alike.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::combine_reshape_activation {
using namespace rewrite;
namespace {

struct MovedReshape {
  NodeId by;
  ir::Ints target;  ///< of a Reshape
};

/// MatMul, Gemm or Conv, or the sum that adds its bias.
bool is_product(const Match& m, NodeId node) {
  const Node& n = m.node(node);
  if (n.is("Add")) return m.producer(n.inputs[0], "MatMul") || m.producer(n.inputs[1], "MatMul");
  return n.is("MatMul") || n.is("Gemm") || n.is("Conv");
}

/// f(Reshape(product)) or f(Transpose(product))
bool activation_after_move(Match& m) {
  const ValueId value = m.operand(m.root(), 0);
  const NodeId reshape = m.producer(value, "Reshape"), by = reshape ? reshape : m.producer(value, "Transpose");
  const NodeId product = by ? m.producer(m.operand(by, 0)) : NodeId{};
  if (!product || m.node(m.root()).inputs.size() != 1 || m.dtype(value) != m.dtype(m.result(m.root()))) return false;
  if (!is_product(m, product)) return false;
  if (m.use_count(m.operand(by, 0)) != 1) return m.refuse("the product has other users");
  m.take(by);
  MovedReshape found{by, {}};
  if (reshape) {
    auto target = reshape_target(m, m.operand(by, 0), value);
    if (!target) return m.refuse("two symbolic sizes move");
    found.target = std::move(*target);
  }
  return m.accept(std::move(found));
}

bool activate_first(const Match& m, Rewriter& w) {
  const MovedReshape& found = m.state<MovedReshape>();
  const ValueId activated = w.clone_with_operands(m.root(), {m.operand(found.by, 0)})[0];
  return replace_root(
      m, w,
      m.node(found.by).is("Transpose") ? w.clone_with_operands(found.by, {activated})[0] : w("Reshape", {activated, w.ints(found.target)}));
}

}  // namespace

RULES(combine_reshape_activation) {
    .sets = "default",
    .rules =
        {
            {.name = "activation_first",
             .docs = "an activation after a Reshape or Transpose of a product comes before it",
             .roots = "Cos Cosh Elu Erf Exp Gelu HardSigmoid HardSwish LeakyRelu Mish Relu Selu Sigmoid Sin Sinh Softplus Swish Tan Tanh",
             .match = activation_after_move,
             .rewrite = activate_first,
             .benefit = 2,
             .covered_patterns = "SwitchReshapeActivation"},
        },
};

}  // namespace tenon::rules::combine_reshape_activation
