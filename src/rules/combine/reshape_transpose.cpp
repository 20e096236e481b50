// SPDX-License-Identifier: Apache-2.0
// A Transpose between two Reshapes of which the second one only splits what the Transpose moves: both Reshapes are one before it. Exact:
// only places of elements are renamed. In a late stage, because fusions recognise layouts by their Reshapes.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/axis_groups.h"
#include "rules/helpers/replace_root.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::combine_reshape_transpose {
using namespace rewrite;
namespace {

struct Joined {
  ValueId x;
  ir::Ints target, order;
};

/// Reshape(Transpose(Reshape(x)))
bool between_reshapes(Match& m) {
  const NodeId transpose = m.take(m.operand(m.root(), 0), "Transpose");
  const NodeId inner = transpose ? m.take(m.operand(transpose, 0), "Reshape") : NodeId{};
  const auto order = inner ? permutation(m, transpose) : std::nullopt;
  if (!order) return false;
  const ValueId x = m.operand(inner, 0);
  const DimList *first = m.shape(x), *from = m.shape(m.result(transpose)), *to = m.shape(m.result(m.root()));
  const auto groups = first && from && to ? axis_groups(*from, *to) : std::nullopt;
  const auto moved = groups ? transpose_after_reshape(*groups, *order, *to) : std::nullopt;
  auto target = moved ? reshape_target(*first, moved->shape) : std::nullopt;
  if (!target) return m.refuse("the second Reshape joins what the Transpose parts, or sizes are not known");
  return m.accept(Joined{x, std::move(*target), moved->order});
}

bool one_reshape(const Match& m, Rewriter& w) {
  const Joined& found = m.state<Joined>();
  return replace_root(m, w, w("Transpose", {w("Reshape", {found.x, w.ints(found.target)})}, {{"perm", found.order}}));
}

}  // namespace

RULES(combine_reshape_transpose) {
    .sets = "default",
    .rules =
        {
            {.name = "reshape_transpose_reshape",
             .docs = "Reshapes on both sides of a Transpose are one before it, where the second one only splits axes that were moved",
             .roots = "Reshape",
             .match = between_reshapes,
             .rewrite = one_reshape,
             .benefit = 2,
             .covered_patterns = "TransposeReshapeTranspose"},
        },
};

}  // namespace tenon::rules::combine_reshape_transpose
