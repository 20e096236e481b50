// SPDX-License-Identifier: Apache-2.0
// Reshapes keep the elements in their row-major order, so only the last shape of a chain counts.
#include <algorithm>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::clean_reshape {
using namespace rewrite;
namespace {

bool reshape_to_target(const Match& m, Rewriter& w, ValueId source, ir::Ints target) {
  return replace_root(m, w, w("Reshape", {source, w.ints(std::move(target))}));
}

struct Chain {
  ValueId source;
  ir::Ints target;
  bool gone;  ///< the source has the last shape already
};

bool chain(Match& m) {
  const NodeId inner = m.producer(m.operand(m.root(), 0));
  if (!inner || !is_reshape(m.node(inner))) return false;
  const ValueId source = m.operand(inner, 0);
  if (m.same_type(source, m.result(m.root()))) { return m.accept(Chain{source, {}, true}); }
  // Two Squeezes or two Unsqueezes stay such: their axes say more than a target does.
  const Node &a = m.node(inner), &b = m.node(m.root());
  if ((a.is("Squeeze") && b.is("Squeeze")) || (a.is("Unsqueeze") && b.is("Unsqueeze"))) return false;
  auto target = reshape_target(m, source, m.result(m.root()));
  if (!target) return m.refuse("two symbolic sizes move");
  return m.accept(Chain{source, std::move(*target), false});
}

bool join(const Match& m, Rewriter& w) {
  const Chain& found = m.state<Chain>();
  if (!found.gone) return reshape_to_target(m, w, found.source, found.target);
  return replace_root(m, w, found.source);
}

/// Which axes of the result of two Unsqueezes (Squeezes, seen from their operand) are the new ones.
bool two_unsqueezes(Match& m) {
  const NodeId inner = m.producer(m.operand(m.root(), 0), "Unsqueeze");
  const auto rank = m.rank(m.result(m.root()));
  if (!inner || !rank) return false;
  auto outer = m.ints(m.root(), "axes", 1), first = m.ints(inner, "axes", 1);
  if (!outer || !first) return false;
  const int64_t middle = *rank - static_cast<int64_t>(outer->size());
  for (int64_t& a : *outer) a += a < 0 ? *rank : 0;
  for (int64_t& a : *first) a += a < 0 ? middle : 0;
  ir::Ints axes = *outer;
  int64_t at = 0;
  for (int64_t i = 0; i < *rank; ++i) {
    if (std::ranges::count(*outer, i)) continue;
    if (std::ranges::count(*first, at++)) axes.push_back(i);
  }
  std::ranges::sort(axes);
  return m.accept(Chain{m.operand(inner, 0), std::move(axes), false});
}

bool one_unsqueeze(const Match& m, Rewriter& w) {
  return replace_root(m, w, w("Unsqueeze", {m.state<Chain>().source, w.ints(m.state<Chain>().target)}));
}

/// The target is computed from shapes, and what it comes to is known symbolically.
bool computed_target(Match& m) {
  const ValueId data = m.operand(m.root(), 0), shape = m.operand(m.root(), 1);
  if (m.is_constant(shape)) return false;
  auto target = reshape_target(m, data, m.result(m.root()));
  if (!target) return m.refuse("two symbolic sizes move");
  return m.accept(Chain{data, std::move(*target), false});
}

/// A constant target with two or more unknowns on the left of shape inference (0 and -1), written anew where a number is known.
bool loose_target(Match& m) {
  const ValueId data = m.operand(m.root(), 0);
  const auto now = m.ints(m.operand(m.root(), 1));
  auto target = reshape_target(m, data, m.result(m.root()));
  const bool allows_zero = m.node(m.root()).attributes.integer("allowzero", 0) != 0;
  if (!now || !target || (*now == *target && !allows_zero)) return false;
  return m.accept(Chain{data, std::move(*target), false});
}

bool retarget(const Match& m, Rewriter& w) { return reshape_to_target(m, w, m.state<Chain>().source, m.state<Chain>().target); }

}  // namespace

RULES(clean_reshape) {
    .rules =
        {
            {.name = "reshape_computed",
             .docs = "a Reshape whose target follows from shapes gets a constant one",
             .roots = "Reshape",
             .match = computed_target,
             .rewrite = retarget,
             .benefit = 7,
             .allow_outside_uses = true,
             .sets = "tenon default canonical",
             .covered_patterns = "ShapeBasedEditDistanceReshape StaticConcatReshape"},
            {.name = "reshape_target",
             .docs = "one spelling of constant targets: numbers, 0 for copies, one -1",
             .roots = "Reshape",
             .match = loose_target,
             .rewrite = retarget,
             .benefit = 6,
             .allow_outside_uses = true,
             .sets = "tenon default canonical",
             .covered_patterns = "ShapeBasedEditDistanceReshape MatMulReshape2Of3 Reshape2Of3"},
            {.name = "reshape_chain",
             .docs = "Reshape, Squeeze, Unsqueeze and Flatten upon each other are one Reshape",
             .roots = "Reshape Squeeze Unsqueeze Flatten",
             .match = chain,
             .rewrite = join,
             .benefit = 5,
             .allow_outside_uses = true,
             .sets = "tenon default",
             .covered_patterns =
                 "ReshapeReshape ReshapeSqueeze SqueezeUnsqueeze UnsqueezeOrSqueezeReshape MatMulReshape2Of3 Reshape2Of3 ReshapeMatMulReshape"},
            {.name = "unsqueeze_chain",
             .docs = "two Unsqueezes are one",
             .roots = "Unsqueeze",
             .match = two_unsqueezes,
             .rewrite = one_unsqueeze,
             .benefit = 5,
             .allow_outside_uses = true,
             .sets = "tenon default canonical",
             .covered_patterns = "UnsqueezeUnsqueeze"},
        },
};

}  // namespace tenon::rules::clean_reshape
