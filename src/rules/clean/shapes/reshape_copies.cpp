// SPDX-License-Identifier: Apache-2.0
// A Reshape to sizes that are not known, but are those that are there.
#include <algorithm>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::clean_reshape_copies {
using namespace rewrite;
namespace {

/// Reshape that copies all sizes but one and has that one inferred: the number of elements stays, so the size does.
bool copies_sizes(Match& m) {
  const auto target = m.ints(m.operand(m.root(), 1));
  if (!target || static_cast<int>(target->size()) != m.rank(m.operand(m.root(), 0)).value_or(-1)) return false;
  return m.node(m.root()).attributes.integer("allowzero", 0) == 0 && std::ranges::count(*target, -1) == 1 &&
         std::ranges::count(*target, 0) == static_cast<int64_t>(target->size()) - 1;
}

}  // namespace

RULES(clean_reshape_copies) {
    .sets = "default",
    .rules =
        {
            {.name = "reshape_copies",
             .docs = "Reshape to the sizes that are there and one that follows",
             .roots = "Reshape",
             .match = copies_sizes,
             .rewrite = replace_root_with_first_operand,
             .benefit = 10,
             .allow_outside_uses = true,
             .covered_patterns = "Reshape ShapedBasedReshape"},
        },
};

}  // namespace tenon::rules::clean_reshape_copies
