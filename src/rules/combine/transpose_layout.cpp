// SPDX-License-Identifier: Apache-2.0
// Transposes that move axes of size 1. Exact: the order of the elements in memory stays. In a late stage, because fusions recognise layouts
// by their Transposes.
#include <algorithm>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::combine_transpose_layout {
using namespace rewrite;
namespace {

bool is_reshape_too(Match& m) {
  if (!moves_only_unit_axes(m, m.root())) return m.refuse("an axis that may be larger than 1 moves");
  auto target = reshape_target(m, m.operand(m.root(), 0), m.result(m.root()));
  if (!target) return m.refuse("two symbolic sizes move");
  return m.accept(std::move(*target));
}

bool reshape_instead(const Match& m, Rewriter& w) {
  return replace_root(m, w, w("Reshape", {m.operand(m.root(), 0), w.ints(m.state<ir::Ints>())}));
}

struct InnerTranspose {
  ValueId x;
  ir::Ints order, axes;
};

/// Transpose(Unsqueeze(x))
bool of_unsqueezed(Match& m) {
  const NodeId unsqueeze = m.take(m.operand(m.root(), 0), "Unsqueeze");
  auto added = unsqueeze ? m.ints(unsqueeze, "axes", 1) : std::nullopt;
  const auto perm = added ? permutation(m, m.root()) : std::nullopt;
  if (!perm) return false;
  const int64_t rank = static_cast<int64_t>(perm->size());
  for (int64_t& a : *added) a += a < 0 ? rank : 0;
  InnerTranspose found{m.operand(unsqueeze, 0), {}, {}};
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t axis = (*perm)[i];
    if (std::ranges::count(*added, axis)) found.axes.push_back(i);
    else found.order.push_back(axis - std::ranges::count_if(*added, [axis](int64_t a) { return a < axis; }));
  }
  return m.accept(std::move(found));
}

bool transpose_inside(const Match& m, Rewriter& w) {
  const InnerTranspose& found = m.state<InnerTranspose>();
  const ValueId transposed = std::ranges::is_sorted(found.order) ? found.x : w("Transpose", {found.x}, {{"perm", found.order}});
  return replace_root(m, w, w("Unsqueeze", {transposed, w.ints(found.axes)}));
}

}  // namespace

RULES(combine_transpose_layout) {
    .sets = "default",
    .rules =
        {
            {.name = "transpose_ones",
             .docs = "a Transpose that moves only axes of size 1 is a Reshape",
             .roots = "Transpose",
             .match = is_reshape_too,
             .rewrite = reshape_instead,
             .benefit = 2,
             .allow_outside_uses = true,
             .covered_patterns = "TransposeEqualReshape"},
            {.name = "transpose_unsqueeze",
             .docs = "Transpose of an Unsqueeze is an Unsqueeze of a Transpose",
             .roots = "Transpose",
             .match = of_unsqueezed,
             .rewrite = transpose_inside,
             .benefit = 3,
             .covered_patterns = "SwapUnsqueezeTranspose"},
        },
};

}  // namespace tenon::rules::combine_transpose_layout
