// SPDX-License-Identifier: Apache-2.0
// Expand and what renames axes: an Unsqueeze or Reshape that leaves the repeated axes alone may come first. The Expand moves down.
#include <algorithm>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/expands.h"
#include "rules/helpers/replace_root.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::combine_expand_axes {
using namespace rewrite;
namespace {

struct MovedAxes {
  ValueId source;
  ir::Ints axes;  ///< of the Unsqueeze, or the target of the Reshape
  ExpandTarget target;
};

/// Axes of an Unsqueeze in its result, from the front, for a source that has `missing` axes fewer than what the Expand made of it: its
/// leading ones are new too.
std::optional<ir::Ints> new_axes(const Match& m, NodeId unsqueeze, int64_t missing) {
  auto axes = m.ints(unsqueeze, "axes", 1);
  const auto rank = m.rank(m.result(unsqueeze));
  if (!axes || !rank) return std::nullopt;
  for (int64_t& a : *axes) a += a < 0 ? *rank : 0;
  const ir::Ints given = *axes;
  for (int64_t i = 0; i < *rank && missing > 0; ++i) {
    if (std::ranges::count(given, i)) continue;
    axes->push_back(i);
    --missing;
  }
  std::ranges::sort(*axes);
  return axes;
}

/// Shape of `from` with ones put in at `axes`.
DimList with_ones(const DimList& from, const ir::Ints& axes) {
  DimList out;
  auto next = from.begin();
  for (size_t i = 0; i < from.size() + axes.size(); ++i)
    out.push_back(std::ranges::count(axes, static_cast<int64_t>(i)) ? Dim(1) : *next++);
  return out;
}

/// Unsqueeze(Expand(x)), and with `outer` Expand(Unsqueeze(Expand(x))).
bool unsqueeze_of_expand(Match& m, NodeId unsqueeze, NodeId outer) {
  const NodeId inner = unsqueeze ? m.take(m.operand(unsqueeze, 0), "Expand") : NodeId{};
  const DimList *from = inner ? m.shape(m.operand(inner, 0)) : nullptr, *middle = inner ? m.shape(m.result(inner)) : nullptr;
  const DimList* to = m.shape(m.result(m.root()));
  if (!from || !middle || !to) return false;
  auto axes = new_axes(m, unsqueeze, static_cast<int64_t>(middle->size() - from->size()));
  if (!axes) return m.refuse("the axes are not known");
  auto target = expand_target(m, with_ones(*from, *axes), *to, std::span(&outer, outer ? 1 : 0));
  if (!target) return m.refuse("a symbolic size is new");
  return m.accept(MovedAxes{m.operand(inner, 0), std::move(*axes), std::move(*target)});
}

bool unsqueeze_after(Match& m) { return unsqueeze_of_expand(m, m.root(), {}); }
bool between_expands(Match& m) { return unsqueeze_of_expand(m, m.take(m.operand(m.root(), 0), "Unsqueeze"), m.root()); }

bool unsqueeze_first(const Match& m, Rewriter& w) {
  const MovedAxes& moved = m.state<MovedAxes>();
  return replace_root(m, w, expand(w, w("Unsqueeze", {moved.source, w.ints(moved.axes)}), moved.target));
}

/// Matches a Reshape after an Expand that repeats only leading axes, which the Reshape keeps.
bool reshape_after_expand(Match& m) {
  const NodeId inner = m.take(m.operand(m.root(), 0), "Expand");
  const DimList *from = inner ? m.shape(m.operand(inner, 0)) : nullptr, *middle = inner ? m.shape(m.result(inner)) : nullptr;
  const DimList* to = m.shape(m.result(m.root()));
  if (!from || !middle || !to || from->size() != middle->size()) return false;
  size_t repeated = middle->size();
  while (repeated > 0 && (*from)[repeated - 1].known_equal((*middle)[repeated - 1])) --repeated;
  if (repeated == 0 || repeated > to->size()) return false;
  DimList small(from->begin(), from->begin() + static_cast<int64_t>(repeated));
  for (size_t i = 0; i < repeated; ++i)
    if (!(*middle)[i].known_equal((*to)[i])) return m.refuse("the Reshape touches an axis that is repeated");
  small.insert(small.end(), to->begin() + static_cast<int64_t>(repeated), to->end());
  auto axes = reshape_target(*from, small);
  auto target = expand_target(m, small, *to, std::span(&inner, 1));
  if (!axes || !target) return m.refuse("a symbolic size is new, or two move");
  return m.accept(MovedAxes{m.operand(inner, 0), std::move(*axes), std::move(*target)});
}

bool reshape_first(const Match& m, Rewriter& w) {
  const MovedAxes& moved = m.state<MovedAxes>();
  return replace_root(m, w, expand(w, w("Reshape", {moved.source, w.ints(moved.axes)}), moved.target));
}

}  // namespace

RULES(combine_expand_axes) {
    .sets = "default",
    .rules =
        {
            {.name = "expand_unsqueeze_expand",
             .docs = "Expand, Unsqueeze, Expand is Unsqueeze, Expand",
             .roots = "Expand",
             .match = between_expands,
             .rewrite = unsqueeze_first,
             .benefit = 6,
             .covered_patterns = "ExpandUnsqueezeExpand"},
            {.name = "expand_unsqueeze",
             .docs = "Unsqueeze(Expand(x)) is Expand(Unsqueeze(x))",
             .roots = "Unsqueeze",
             .match = unsqueeze_after,
             .rewrite = unsqueeze_first,
             .benefit = 2,
             .covered_patterns = "SwapExpandUnsqueeze"},
            {.name = "expand_reshape",
             .docs = "a Reshape after the axes that an Expand repeats comes before it",
             .roots = "Reshape",
             .match = reshape_after_expand,
             .rewrite = reshape_first,
             .benefit = 2,
             .covered_patterns = "SwapExpandReshape"},
        },
};

}  // namespace tenon::rules::combine_expand_axes
