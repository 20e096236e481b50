// SPDX-License-Identifier: Apache-2.0
// The most specific op: a Reshape (or Expand) that only adds or drops ones is an Unsqueeze or a Squeeze. Last, because the rules
// that recognise structure look for Reshape.
#include <algorithm>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::combine_reshape_spelling {
using namespace rewrite;
namespace {

bool only_ones(Match& m) {
  const DimList *from = m.shape(m.operand(m.root(), 0)), *to = m.shape(m.result(m.root()));
  auto ones = from && to ? unit_axes_between(*from, *to) : std::nullopt;
  if (!ones || ones->axes.empty()) return m.refuse("more than ones differ, or nothing");
  return m.accept(std::move(*ones));
}

bool rewrite_axes(const Match& m, Rewriter& w) {
  const UnitAxes& ones = m.state<UnitAxes>();
  return replace_root(m, w, w(ones.added ? "Unsqueeze" : "Squeeze", {m.operand(m.root(), 0), w.ints(ones.axes)}));
}

}  // namespace

RULES(combine_reshape_spelling) {
    .sets = "default",
    .rules =
        {
            {.name = "reshape_is_squeeze",
             .docs = "a Reshape or Expand that only adds or drops ones is an Unsqueeze or a Squeeze",
             .roots = "Reshape Expand",
             .match = only_ones,
             .rewrite = rewrite_axes,
             .covered_patterns = "ShapeBasedReshapeIsSqueeze"},
        },
};

}  // namespace tenon::rules::combine_reshape_spelling
