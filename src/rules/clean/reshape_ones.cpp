// SPDX-License-Identifier: Apache-2.0
// Two reshapes that together only add or drop ones are one Unsqueeze or Squeeze.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::clean_reshape_ones {
using namespace rewrite;
namespace {

struct Found {
  ValueId source;
  Ones ones;
};

bool only_ones(Match& m) {
  const NodeId inner = m.producer(m.operand(m.root(), 0));
  if (!inner || !is_reshape(m.node(inner))) return false;
  const DimList *from = m.shape(m.operand(inner, 0)), *to = m.shape(m.result(m.root()));
  auto ones = from && to ? ones_between(*from, *to) : std::nullopt;
  if (!ones) return m.refuse("more than ones differ");
  m.keep(Found{m.operand(inner, 0), std::move(*ones)});
  return true;
}

bool say_axes(const Match& m, Rewriter& w) {
  const auto& [source, ones] = m.kept<Found>();
  ValueId result = source;
  if (!ones.axes.empty()) result = w(ones.added ? "Unsqueeze" : "Squeeze", {source, w.ints(ones.axes)});
  w.replace(m.result(m.root()), result);
  return true;
}

}  // namespace

RULES(clean_reshape_ones) {
    .sets = "tenon default",
    .rules =
        {
            {.name = "unsqueeze_reshape",
             .docs = "two reshapes that only add (or only drop) ones are one Unsqueeze (Squeeze)",
             .roots = "Reshape Squeeze Unsqueeze Flatten",
             .match = only_ones,
             .rewrite = say_axes,
             .benefit = 4,
             .shared = true,
             .seeds = "UnsqueezeReshape SqueezeUnsqueeze"},
        },
};

}  // namespace tenon::rules::clean_reshape_ones
