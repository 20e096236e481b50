// SPDX-License-Identifier: Apache-2.0
// Elements of an op of single elements are that op of the elements: what is not read is not computed. Exact: the same elements meet.
#include "rules/helpers/elementwise.h"
#include "rewrite/rule.h"
#include "rules/helpers/picks.h"

namespace tenon::rules::trim_elementwise {
using namespace rewrite;
namespace {

bool elements(Match& m) {
  const auto pick = only_pick(m);
  if (!pick || !is_elementwise(m.node(pick->maker))) return false;
  Moved moved{*pick, {}};
  for (ValueId operand : m.node(pick->maker).inputs) {
    const auto axis = operand ? aligned_axis(m, *pick, operand) : kWhole;
    if (!axis) return m.refuse("how an operand is repeated along the axis is not known", operand);
    moved.axes.push_back(*axis);
  }
  return m.keep(std::move(moved));
}

}  // namespace

RULES(trim_elementwise) {
    .rules =
        {
            {.name = "pick_elementwise",
             .docs = "elements of f(x, y) are f of the elements of x and y",
             .roots = "Gather Slice",
             .match = elements,
             .rewrite = move_up,
             .benefit = 3,
             .shared = true},
        },
};

}  // namespace tenon::rules::trim_elementwise
