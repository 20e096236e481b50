// SPDX-License-Identifier: Apache-2.0
// Elements of an op of single elements are that op of the elements: what is not read is not computed. Exact: the same elements meet.
#include "rules/helpers/elementwise.h"
#include "rewrite/rule.h"
#include "rules/helpers/axis_selection.h"

namespace tenon::rules::trim_elementwise {
using namespace rewrite;
namespace {

bool elements(Match& m) {
  const auto selection = sole_selection(m);
  if (!selection || !is_elementwise(m.node(selection->producer))) return false;
  MovedSelection moved{*selection, {}};
  for (ValueId operand : m.node(selection->producer).inputs) {
    const auto axis = operand ? aligned_axis(m, *selection, operand) : kUnselected;
    if (!axis) return m.refuse("how an operand is repeated along the axis is not known", operand);
    moved.axes.push_back(*axis);
  }
  return m.accept(std::move(moved));
}

}  // namespace

RULES(trim_elementwise) {
    .rules =
        {
            {.name = "pick_elementwise",
             .docs = "elements of f(x, y) are f of the elements of x and y",
             .roots = "Gather Slice",
             .match = elements,
             .rewrite = move_selection_up,
             .benefit = 3,
             .allow_outside_uses = true},
        },
};

}  // namespace tenon::rules::trim_elementwise
