// SPDX-License-Identifier: Apache-2.0
// Reshapes of reshapes. The elements keep their order, so only the last shape counts: what the rules of reshape.cpp do by shapes, done here
// by the targets alone, where shapes are not known or two symbolic sizes move. And two that together only add or drop ones are one
// Unsqueeze or Squeeze.
#include <algorithm>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::clean_reshape_chain {
using namespace rewrite;
namespace {

bool allows_zero(const Match& m, NodeId reshape) { return m.node(reshape).attributes.integer("allowzero", 0) != 0; }

/// Is dim `axis` of what `inner` makes the dim of the same axis of its operand?
bool keeps_axis(const Match& m, NodeId inner, int64_t axis) {
  const DimList *from = m.shape(m.operand(inner, 0)), *to = m.shape(m.result(inner));
  const size_t at = static_cast<size_t>(axis);
  if (from && to) return at < from->size() && at < to->size() && (*from)[at].known_equal((*to)[at]);
  if (!m.node(inner).is("Squeeze") && !m.node(inner).is("Unsqueeze")) return false;
  const auto axes = m.ints(inner, "axes", 1);
  return axes && std::ranges::all_of(*axes, [axis](int64_t a) { return a > axis; });
}

bool own_target(Match& m) {
  const NodeId inner = m.producer(m.operand(m.root(), 0));
  if (!inner || !is_reshape(m.node(inner))) return false;
  const auto target = m.ints(m.operand(m.root(), 1));
  if (!target) return m.refuse("the target is not constant");
  for (size_t i = 0; i < target->size(); ++i)
    if ((*target)[i] == 0 && !allows_zero(m, m.root()) && !keeps_axis(m, inner, static_cast<int64_t>(i)))
      return m.refuse("the target copies an axis that was changed");
  return m.accept(m.operand(inner, 0));
}

bool skip_inner(const Match& m, Rewriter& w) {
  return replace_root(m, w, w.clone_with_operands(m.root(), {m.state<ValueId>(), m.operand(m.root(), 1)})[0]);
}

struct ShorterReshape {
  ValueId source;
  ir::Ints target;
};

/// Squeeze(Reshape(x, [..., 1, ...])): the ones go from the target.
bool squeezed_target(Match& m) {
  const NodeId inner = m.producer(m.operand(m.root(), 0), "Reshape");
  if (!inner) return false;
  auto target = m.ints(m.operand(inner, 1)), axes = m.ints(m.root(), "axes", 1);
  if (!target || !axes || axes->empty() || allows_zero(m, inner)) return m.refuse("target or axes are not constant");
  const int64_t rank = static_cast<int64_t>(target->size());
  for (int64_t& a : *axes) {
    a += a < 0 ? rank : 0;
    if (a < 0 || a >= rank || (*target)[static_cast<size_t>(a)] != 1) return m.refuse("the target does not say 1 at an axis that goes");
  }
  std::ranges::sort(*axes);
  if (std::ranges::adjacent_find(*axes) != axes->end()) return false;
  if (std::ranges::count(target->begin() + axes->front(), target->end(), 0)) return m.refuse("a size is copied after an axis that goes");
  for (size_t i = axes->size(); i-- > 0;) target->erase(target->begin() + (*axes)[i]);
  return m.accept(ShorterReshape{m.operand(inner, 0), std::move(*target)});
}

bool shorter_target(const Match& m, Rewriter& w) {
  const ShorterReshape& found = m.state<ShorterReshape>();
  return replace_root(m, w, w("Reshape", {found.source, w.ints(found.target)}));
}

struct UnitAxesMatch {
  ValueId source;
  UnitAxes ones;
};

bool only_ones(Match& m) {
  const NodeId inner = m.producer(m.operand(m.root(), 0));
  if (!inner || !is_reshape(m.node(inner))) return false;
  const DimList *from = m.shape(m.operand(inner, 0)), *to = m.shape(m.result(m.root()));
  auto ones = from && to ? unit_axes_between(*from, *to) : std::nullopt;
  if (!ones) return m.refuse("more than ones differ");
  return m.accept(UnitAxesMatch{m.operand(inner, 0), std::move(*ones)});
}

bool rewrite_axes(const Match& m, Rewriter& w) {
  const auto& [source, ones] = m.state<UnitAxesMatch>();
  ValueId result = source;
  if (!ones.axes.empty()) result = w(ones.added ? "Unsqueeze" : "Squeeze", {source, w.ints(ones.axes)});
  return replace_root(m, w, result);
}

}  // namespace

RULES(clean_reshape_chain) {
    .sets = "tenon default",
    .rules =
        {
            {.name = "reshape_last",
             .docs = "a Reshape to a constant target needs no reshape before it, whatever the shapes are",
             .roots = "Reshape",
             .match = own_target,
             .rewrite = skip_inner,
             .benefit = 4,
             .allow_outside_uses = true,
             .covered_patterns = "ReshapeReshape UnsqueezeOrSqueezeReshape"},
            {.name = "reshape_squeeze",
             .docs = "Squeeze of ones that the target of a Reshape has put there, whatever the shapes are",
             .roots = "Squeeze",
             .match = squeezed_target,
             .rewrite = shorter_target,
             .benefit = 4,
             .allow_outside_uses = true,
             .covered_patterns = "ReshapeSqueeze"},
            {.name = "unsqueeze_reshape",
             .docs = "two reshapes that only add (or only drop) ones are one Unsqueeze (Squeeze)",
             .roots = "Reshape Squeeze Unsqueeze Flatten",
             .match = only_ones,
             .rewrite = rewrite_axes,
             .benefit = 4,
             .allow_outside_uses = true,
             .covered_patterns = "UnsqueezeReshape SqueezeUnsqueeze"},
        },
};

}  // namespace tenon::rules::clean_reshape_chain
