// SPDX-License-Identifier: Apache-2.0
// Why both sides are equal: |-x| = |x| for every x, NaN and infinity included.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"

namespace tenon::rules::FOLDER_NAME {
using namespace rewrite;
namespace {

/// Decides, and changes nothing. Nodes that are added to the match must have no users outside of it.
bool negated_inside(Match& m) {
  const NodeId neg = m.take(m.operand(m.root(), 0), "Neg");
  if (!neg) return false;
  if (!is_float(m.dtype(m.operand(neg, 0)))) return m.refuse("the smallest integer has no representable negative");
  m.accept(m.operand(neg, 0));
  return true;
}

bool alone(const Match& m, Rewriter& w) {
  w.replace(m.result(m.root()), w("Abs", {m.state<ValueId>()}));
  return true;
}

}  // namespace

RULES(FOLDER_NAME) {
    .rules =
        {
            {.name = "NAME", .docs = "|-x| is |x|", .roots = "Abs", .match = negated_inside, .rewrite = alone},
        },
};

}  // namespace tenon::rules::FOLDER_NAME
