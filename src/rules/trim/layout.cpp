// SPDX-License-Identifier: Apache-2.0
// Ops that place elements elsewhere: what is picked after them is picked before them. Exact: the same elements arrive.
#include "rewrite/rule.h"
#include "rules/helpers/axis_selection.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::trim_layout {
using namespace rewrite;
namespace {

bool transposed(Match& m) {
  const auto selection = sole_selection(m);
  if (!selection || !m.node(selection->producer).is("Transpose")) return false;
  const auto perm = permutation(m, selection->producer);
  if (!perm) return false;
  return m.accept(MovedSelection{*selection, {static_cast<int>((*perm)[static_cast<size_t>(selection->axis)])}});
}

bool pick_before_concat(Match& m) {
  const auto selection = sole_selection(m);
  if (!selection || !m.node(selection->producer).is("Concat")) return false;
  if (m.axis(selection->producer, "axis", 0, selection->value) == selection->axis) return m.refuse("the parts lie along the picked axis");
  return m.accept(MovedSelection{*selection, std::vector<int>(m.node(selection->producer).inputs.size(), selection->axis)});
}

struct Reshaped {
  AxisSelection selection;
  int axis;         ///< of the operand
  ir::Ints target;  ///< of the Reshape after the selection
};

Dim size_of_first(const DimList& dims, size_t count) { return product(DimList(dims.begin(), dims.begin() + static_cast<int64_t>(count))); }

/// The axis of the operand that is the picked one: as long, and as many elements before it.
std::optional<int> same_axis(const DimList& from, const DimList& to, size_t axis) {
  const Dim before = size_of_first(to, axis), up_to = size_of_first(to, axis + 1);
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i].known_equal(to[axis]) && size_of_first(from, i).known_equal(before) && size_of_first(from, i + 1).known_equal(up_to))
      return static_cast<int>(i);
  return std::nullopt;
}

bool reshaped(Match& m) {
  const auto selection = sole_selection(m);
  if (!selection || !is_reshape(m.node(selection->producer))) return false;
  const DimList* from = m.shape(m.operand(selection->producer, 0));
  if (!from) return false;
  DimList after = *m.shape(selection->value), before = *from;
  const auto axis = same_axis(before, after, static_cast<size_t>(selection->axis));
  if (!axis) return m.refuse("the axis is made of others, or parted");
  before[static_cast<size_t>(*axis)] = after[static_cast<size_t>(selection->axis)] = selection->count;
  auto target = reshape_target(before, after);
  if (!target) return m.refuse("two symbolic sizes move");
  return m.accept(Reshaped{*selection, *axis, std::move(*target)});
}

bool reshape_picked(const Match& m, Rewriter& w) {
  const Reshaped& found = m.state<Reshaped>();
  const ValueId x = select_from(m, w, found.selection, m.operand(found.selection.producer, 0), found.axis);
  return replace_readers(m, w, found.selection, w("Reshape", {x, w.ints(found.target)}));
}

}  // namespace

RULES(trim_layout) {
    .rules =
        {
            {.name = "pick_transpose",
             .docs = "elements of one axis of a Transpose are those of the axis at its original place",
             .roots = "Gather Slice",
             .match = transposed,
             .rewrite = move_selection_up,
             .benefit = 3,
             .allow_outside_uses = true},
            {.name = "pick_concat",
             .docs = "elements of one axis of a Concat along another are those of its parts",
             .roots = "Gather Slice",
             .match = pick_before_concat,
             .rewrite = move_selection_up,
             .benefit = 3,
             .allow_outside_uses = true},
            {.name = "pick_reshape",
             .docs = "elements of an axis that a Reshape (Squeeze, Unsqueeze, Flatten) leaves are picked before it",
             .roots = "Gather Slice",
             .match = reshaped,
             .rewrite = reshape_picked,
             .benefit = 3,
             .allow_outside_uses = true},
        },
};

}  // namespace tenon::rules::trim_layout
