// SPDX-License-Identifier: Apache-2.0
// Expand repeats elements. An op that treats each element (or pair) alike gives equal results for equal operands, so it may work on the
// small value and the Expand come after. The Expand moves down in every rule here and up in none.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/elementwise.h"
#include "rules/helpers/expands.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::combine_expand_swap {
using namespace rewrite;
namespace {

bool unary_of_expand(Match& m) { return is_unary(m.node(m.root())) && m.take(m.operand(m.root(), 0), "Expand"); }

bool expand_after(const Match& m, Rewriter& w) {
  const NodeId inner = m.nodes[1];
  std::vector<ValueId> inputs{m.node(m.root()).inputs.begin(), m.node(m.root()).inputs.end()};
  inputs[0] = m.operand(inner, 0);
  return replace_root(m, w, w("Expand", {w.clone_with_operands(m.root(), inputs)[0], m.operand(inner, 1)}));
}

/// An operand without its Expand; `cast`: the Cast between the Expand and the op.
struct UnexpandedOperand {
  ValueId source;
  NodeId cast;
};
struct ExpandSwap {
  std::vector<UnexpandedOperand> operands;
  ExpandTarget target;
};

UnexpandedOperand without_expand(Match& m, ValueId value, bool through_cast, ir::SmallList<NodeId, 4>& expands) {
  const NodeId cast = through_cast ? m.producer(value, "Cast") : NodeId{};
  const NodeId node = m.producer(cast ? m.operand(cast, 0) : value, "Expand");
  if (!node) return {value, {}};
  if (cast) m.take(cast);
  m.take(node);
  expands.push_back(node);
  return {m.operand(node, 0), cast};
}

bool small_operands(Match& m, bool through_cast) {
  ir::SmallList<NodeId, 4> expands;
  ExpandSwap swap;
  for (size_t i = 0; i < m.node(m.root()).explicit_inputs; ++i)
    swap.operands.push_back(without_expand(m, m.operand(m.root(), i), through_cast, expands));
  const DimList* result = m.shape(m.result(m.root()));
  if (expands.empty() || !result) return false;
  std::optional<DimList> together = DimList();
  for (const UnexpandedOperand& operand : swap.operands) {
    const DimList* shape = m.shape(operand.source);
    together = shape && together ? broadcast_of(*together, *shape) : std::nullopt;
  }
  if (!together) return m.refuse("the operands without Expand are not known to broadcast");
  auto target = expand_target(m, *together, *result, {expands.begin(), expands.end()});
  if (!target) return m.refuse("no target is known to give the shape back");
  swap.target = std::move(*target);
  return m.accept(std::move(swap));
}

bool binary_of_expands(Match& m) { return is_binary(m.node(m.root())) && small_operands(m, false); }
bool where_of_expands(Match& m) { return small_operands(m, true); }

bool expand_once(const Match& m, Rewriter& w) {
  const ExpandSwap& swap = m.state<ExpandSwap>();
  std::vector<ValueId> inputs;
  for (const UnexpandedOperand& s : swap.operands) inputs.push_back(s.cast ? w.clone_with_operands(s.cast, {s.source})[0] : s.source);
  const ValueId small = w.clone_with_operands(m.root(), inputs)[0];
  return replace_root(m, w, expand(w, small, swap.target));
}

}  // namespace

RULES(combine_expand_swap) {
    .sets = "default",
    .rules =
        {
            {.name = "expand_unary",
             .docs = "f(Expand(x)) is Expand(f(x)) for an op of single elements",
             .roots = kUnaryOps,
             .match = unary_of_expand,
             .rewrite = expand_after,
             .benefit = 2,
             .covered_patterns = "ExpandSwap"},
            {.name = "expand_binary",
             .docs = "f(Expand(x), Expand(y)) is Expand(f(x, y)) where x and y are known to broadcast; one may be there without Expand",
             .roots = kBinaryOps,
             .match = binary_of_expands,
             .rewrite = expand_once,
             .benefit = 2,
             .covered_patterns = "ShapeBasedExpandSwap"},
            {.name = "expand_where",
             .docs = "the same for the operands of Where, also through a Cast (a condition made of the value that is chosen)",
             .roots = "Where",
             .match = where_of_expands,
             .rewrite = expand_once,
             .benefit = 2,
             .covered_patterns = "ShapeBasedExpandCastWhereSwap"},
        },
};

}  // namespace tenon::rules::combine_expand_swap
