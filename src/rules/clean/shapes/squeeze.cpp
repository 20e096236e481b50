// SPDX-License-Identifier: Apache-2.0
// Squeeze and Unsqueeze around ops that broadcast. Both operands lose (or get) the same axes of size 1 of shapes of one rank, so the dims
// that meet are the same before and after.
#include <algorithm>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::clean_squeeze {
using namespace rewrite;
namespace {

/// Are the two axis operands one value, or constants with the same axes in any order?
bool same_axes(const Match& m, ValueId a, ValueId b) {
  if (a == b) return true;
  auto x = m.ints(a), y = m.ints(b);
  if (!x || !y) return false;
  std::ranges::sort(*x);
  std::ranges::sort(*y);
  return *x == *y;
}

/// Negative axes count from the end of the longer shape in both ops, so equal numbers are equal axes, whatever the rank.
bool there_and_back(Match& m) {
  const bool squeezes = m.node(m.root()).is("Squeeze");
  const NodeId inner = m.producer(m.operand(m.root(), 0), squeezes ? "Unsqueeze" : "Squeeze");
  if (!inner) return false;
  const ValueId outer_axes = m.operand(m.root(), 1), inner_axes = m.operand(inner, 1);
  if (!outer_axes || !inner_axes || !same_axes(m, outer_axes, inner_axes)) return m.refuse("the axes differ, or are not known");
  return m.accept(m.operand(inner, 0));
}

/// One element with no more axes than `larger`: broadcast over it, with axes of size 1 in between or not.
bool is_lone(const Match& m, ValueId value, ValueId larger) {
  const DimList *shape = m.shape(value), *other = m.shape(larger);
  return shape && other && shape->size() <= other->size() && std::ranges::all_of(*shape, [](const Dim& d) { return d.known_equal(1); });
}

/// Unsqueeze(Equal(x, c), a) where Unsqueeze(x, a) is there already and c is one number.
bool unsqueezed_already(Match& m) {
  const NodeId equal = m.take(m.operand(m.root(), 0), "Equal");
  const ValueId axes = m.operand(m.root(), 1);
  if (!equal || !axes) return false;
  for (size_t side : {0, 1}) {
    if (!is_lone(m, m.operand(equal, 1 - side), m.operand(equal, side))) continue;
    for (const ir::Use& use : m.value(m.operand(equal, side)).uses) {
      if (!use.node || use.slot != 0 || !m.node(use.node).is("Unsqueeze") || !m.graph().is_before(use.node, m.root())) continue;
      if (!same_axes(m, m.operand(use.node, 1), axes)) continue;
      return m.accept(std::pair(m.result(use.node), m.operand(equal, 1 - side)));
    }
  }
  return m.refuse("the operand is not there with these axes, or the other one is not one number");
}

bool equal_of_wide(const Match& m, Rewriter& w) {
  const auto& [wide, scalar] = m.state<std::pair<ValueId, ValueId>>();
  return replace_root(m, w, w("Equal", {wide, scalar}));
}

}  // namespace

RULES(clean_squeeze) {
    .sets = "default",
    .rules =
        {
            {.name = "squeeze_unsqueeze",
             .docs = "Squeeze and Unsqueeze of the same axes cancel, in either order, whatever the shapes are",
             .roots = "Squeeze Unsqueeze",
             .match = there_and_back,
             .rewrite = replace_root_with_state,
             .benefit = 8,
             .allow_outside_uses = true,
             .sets = "tenon default canonical",
             .covered_patterns = "SqueezeUnsqueeze"},
            {.name = "squeeze_add",
             .docs = "the Add of two values that have lost the same axes loses them itself",
             .equation = "Add(Squeeze(?x, ?a), Squeeze(?z, ?b)) => Squeeze(Add(?x, ?z), ?a)"
                         " where rank(?x) == rank(?z), ints(?a) == ints(?b)",
             .benefit = 2,
             .covered_patterns = "SqueezeAdd"},
            {.name = "squeeze_sub",
             .docs = "the Sub of two values that have lost the same axes loses them itself",
             .equation = "Sub(Squeeze(?x, ?a), Squeeze(?z, ?b)) => Squeeze(Sub(?x, ?z), ?a)"
                         " where rank(?x) == rank(?z), ints(?a) == ints(?b)",
             .benefit = 2},
            {.name = "squeeze_mul",
             .docs = "the Mul of two values that have lost the same axes loses them itself",
             .equation = "Mul(Squeeze(?x, ?a), Squeeze(?z, ?b)) => Squeeze(Mul(?x, ?z), ?a)"
                         " where rank(?x) == rank(?z), ints(?a) == ints(?b)",
             .benefit = 2},
            {.name = "squeeze_div",
             .docs = "the Div of two values that have lost the same axes loses them itself",
             .equation = "Div(Squeeze(?x, ?a), Squeeze(?z, ?b)) => Squeeze(Div(?x, ?z), ?a)"
                         " where rank(?x) == rank(?z), ints(?a) == ints(?b)",
             .benefit = 2},
            {.name = "unsqueeze_mul",
             .docs = "the Mul of two values that have got the same axes gets them itself",
             .equation = "Mul(Unsqueeze(?x, ?a), Unsqueeze(?z, ?b)) => Unsqueeze(Mul(?x, ?z), ?a)"
                         " where rank(?x) == rank(?z), ints(?a) == ints(?b)",
             .benefit = 2,
             .covered_patterns = "MulUnsqueezeUnsqueeze"},
            {.name = "unsqueeze_add",
             .docs = "the Add of two values that have got the same axes gets them itself",
             .equation = "Add(Unsqueeze(?x, ?a), Unsqueeze(?z, ?b)) => Unsqueeze(Add(?x, ?z), ?a)"
                         " where rank(?x) == rank(?z), ints(?a) == ints(?b)",
             .benefit = 2},
            {.name = "unsqueeze_sub",
             .docs = "the Sub of two values that have got the same axes gets them itself",
             .equation = "Sub(Unsqueeze(?x, ?a), Unsqueeze(?z, ?b)) => Unsqueeze(Sub(?x, ?z), ?a)"
                         " where rank(?x) == rank(?z), ints(?a) == ints(?b)",
             .benefit = 2},
            {.name = "unsqueeze_div",
             .docs = "the Div of two values that have got the same axes gets them itself",
             .equation = "Div(Unsqueeze(?x, ?a), Unsqueeze(?z, ?b)) => Unsqueeze(Div(?x, ?z), ?a)"
                         " where rank(?x) == rank(?z), ints(?a) == ints(?b)",
             .benefit = 2},
            {.name = "unsqueeze_equal",
             .docs = "the Equal of two values that have got the same axes gets them itself",
             .equation = "Equal(Unsqueeze(?x, ?a), Unsqueeze(?z, ?b)) => Unsqueeze(Equal(?x, ?z), ?a)"
                         " where rank(?x) == rank(?z), ints(?a) == ints(?b)",
             .benefit = 2,
             .covered_patterns = "UnsqueezeEqual"},
            {.name = "equal_unsqueeze",
             .docs = "Unsqueeze(Equal(x, c)) is Equal(Unsqueeze(x), c) where that Unsqueeze is there and c is one number",
             .roots = "Unsqueeze",
             .match = unsqueezed_already,
             .rewrite = equal_of_wide,
             .benefit = 2,
             .covered_patterns = "UnsqueezeEqual"},
        },
};

}  // namespace tenon::rules::clean_squeeze
