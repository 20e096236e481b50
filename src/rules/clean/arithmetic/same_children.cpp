// SPDX-License-Identifier: Apache-2.0
// Two nodes that compute the same are one. The pipeline has a pass for whole graphs; these rules let a set do it by itself.
#include <algorithm>
#include <cstring>

#include "ops/core/random_streams.h"
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::clean_same_children {
using namespace rewrite;
namespace {

constexpr int64_t kComparedBytes = 4096;

bool same_value(const Match& m, ValueId a, ValueId b) {
  if (a == b) return true;
  if (!m.is_constant(a) || !m.is_constant(b)) return false;
  if (m.value(a).constant == m.value(b).constant) return true;
  const Tensor *x = m.graph().tensor_of(a, kComparedBytes), *y = m.graph().tensor_of(b, kComparedBytes);
  return x && y && x->dtype() == y->dtype() && x->dtype() != DType::string && x->shape() == y->shape() &&
         std::memcmp(x->data(), y->data(), static_cast<size_t>(x->byte_size())) == 0;
}

bool same_operands(const Match& m, const Node& a, const Node& b) {
  if (a.inputs.size() != b.inputs.size()) return false;
  const auto same = [&](size_t i, size_t k) { return same_value(m, a.inputs[i], b.inputs[k]); };
  for (size_t i = 2; i < a.inputs.size(); ++i)
    if (!same(i, i)) return false;
  if (a.inputs.size() < 2) return a.inputs.empty() || same(0, 0);
  return (same(0, 0) && same(1, 1)) || (a.op->commutative && same(0, 1) && same(1, 0));
}

/// Every result of `a` that is used is there in `b`.
bool same_results(const Match& m, const Node& a, const Node& b) {
  if (a.outputs.size() != b.outputs.size()) return false;
  for (size_t i = 0; i < a.outputs.size(); ++i)
    if (a.outputs[i] && m.use_count(a.outputs[i]) && !b.outputs[i]) return false;
  return true;
}

/// The operand that the fewest nodes use, constants last.
ValueId rarest(const Match& m, const Node& node) {
  ValueId best;
  const auto cost = [&](ValueId v) { return std::pair(m.is_constant(v), m.use_count(v)); };
  for (ValueId v : node.inputs)
    if (v && (!best || cost(v) < cost(best))) best = v;
  return best;
}

bool twin_before(Match& m) {
  const Node& node = m.node(m.root());
  if (!node.op->deterministic || node.op->has_effects || !node.bodies.empty() || ops::is_random(m.graph(), m.root())) return false;
  const ValueId operand = rarest(m, node);
  if (!operand) return false;
  for (const ir::Use& use : m.value(operand).uses) {
    if (!use.node || use.node == m.root() || m.node(use.node).op != node.op || !m.graph().is_before(use.node, m.root())) continue;
    const Node& twin = m.node(use.node);
    if (!(twin.attributes == node.attributes) || !same_operands(m, node, twin) || !same_results(m, node, twin)) continue;
    return m.accept(use.node);
  }
  return false;
}

bool use_twin(const Match& m, Rewriter& w) {
  const Node &node = m.node(m.root()), &twin = m.node(m.state<NodeId>());
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (node.outputs[i] && m.use_count(node.outputs[i])) w.replace(node.outputs[i], twin.outputs[i]);
  return true;
}

/// Two reshapes (or Expands) are equal where they have equal data and provably equal result shapes, whatever their shape operands are.
bool same_shape_before(Match& m) {
  const Node& node = m.node(m.root());
  const ValueId source = m.operand(m.root(), 0);
  for (const ir::Use& use : m.value(source).uses) {
    if (!use.node || use.slot != 0 || use.node == m.root() || !m.graph().is_before(use.node, m.root())) continue;
    const Node& twin = m.node(use.node);
    if (is_reshape(node) ? !is_reshape(twin) : twin.op != node.op) continue;
    if (!m.same_type(m.result(m.root()), m.result(use.node))) continue;
    return m.accept(use.node);
  }
  return false;
}

}  // namespace

RULES(clean_same_children) {
    .sets = "default",
    .rules =
        {
            {.name = "same_children",
             .docs = "of two nodes with the same op, operands and attributes the later one goes (the pass common_subexpressions does it to "
                     "whole graphs)",
             .roots = "*",
             .match = twin_before,
             .rewrite = use_twin,
             .benefit = 9,
             .allow_outside_uses = true,
             .covered_patterns = "SameChildren SameChildrenFromInput"},
            {.name = "same_shape_children",
             .docs = "of two reshapes (or Expands) of one value to one shape the later one goes",
             .roots = "Reshape Squeeze Unsqueeze Flatten Expand",
             .match = same_shape_before,
             .rewrite = use_twin,
             .benefit = 9,
             .allow_outside_uses = true,
             .sets = "tenon default canonical",
             .covered_patterns = "ShapeBasedSameChildren"},
        },
};

}  // namespace tenon::rules::clean_same_children
