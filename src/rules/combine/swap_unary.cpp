// SPDX-License-Identifier: Apache-2.0
// An op of single elements gives the same elements before a Transpose or Reshape as after it. The layout op moves down, where it may meet
// another; late, because rules that recognise structure match it as exported.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/elementwise.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::combine_swap_unary {
using namespace rewrite;
namespace {

/// The layout op that makes operand `slot`. A Transpose upon a Transpose waits until the two are one: transpose_sandwich, which moves the
/// upper one back, would go on for ever with it.
bool take_layout(Match& m, size_t slot) {
  NodeId layout = m.producer(m.operand(m.root(), slot), "Transpose");
  if (layout && m.producer(m.operand(layout, 0), "Transpose")) return m.refuse("a Transpose is above");
  if (!layout) layout = m.producer(m.operand(m.root(), slot), "Reshape");
  if (!layout) return false;
  m.take(layout);
  return m.accept(slot);
}

bool unary_below(Match& m) { return is_unary(m.node(m.root())) && take_layout(m, 0); }

/// The other operand is one number, and of no higher rank than what comes before and after the layout op.
bool scalar_below(Match& m) {
  for (size_t slot : {0, 1}) {
    const DimList* other = m.shape(m.operand(m.root(), 1 - slot));
    if (!other || other->size() > 1 || !product(*other).known_equal(1)) continue;
    if (!take_layout(m, slot)) continue;
    const auto rank = m.rank(m.operand(m.nodes[1], 0));
    if (rank && *rank >= static_cast<int>(other->size()) && m.same_shape(m.result(m.root()), m.operand(m.root(), slot))) return true;
    return m.refuse("the number has a higher rank");
  }
  return false;
}

bool layout_after(const Match& m, Rewriter& w) {
  const size_t slot = m.state<size_t>();
  std::vector<ValueId> inputs{m.node(m.root()).inputs.begin(), m.node(m.root()).inputs.end()};
  std::vector<ValueId> layout{m.node(m.nodes[1]).inputs.begin(), m.node(m.nodes[1]).inputs.end()};
  inputs[slot] = layout[0];
  layout[0] = w.clone_with_operands(m.root(), inputs)[0];
  return replace_root(m, w, w.clone_with_operands(m.nodes[1], layout)[0]);
}

}  // namespace

RULES(combine_swap_unary) {
    .sets = "default",
    .rules =
        {
            {.name = "swap_unary",
             .docs = "f(Transpose(x)) is Transpose(f(x)), and so for Reshape, for an op of single elements",
             .roots = kUnaryOps,
             .match = unary_below,
             .rewrite = layout_after,
             .covered_patterns = "SwapUnary"},
            {.name = "swap_scalar",
             .docs = "the same for arithmetic with one number",
             .roots = "Add Sub Mul Div",
             .match = scalar_below,
             .rewrite = layout_after,
             .covered_patterns = "SwapUnary"},
        },
};

}  // namespace tenon::rules::combine_swap_unary
