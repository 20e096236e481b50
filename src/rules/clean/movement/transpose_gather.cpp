// SPDX-License-Identifier: Apache-2.0
// Gather along an axis of a Transpose reads the axis at its original place. Exact: the same elements are picked; the axes that are left
// follow in the order of the Transpose, which disappears where that is their order anyway.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::clean_transpose_gather {
using namespace rewrite;
namespace {

struct SourceGather {
  ValueId x;
  int64_t axis;    ///< of x
  ir::Ints order;  ///< of the axes of Gather(x, indices, axis)
  bool in_order() const {
    for (size_t i = 0; i < order.size(); ++i)
      if (order[i] != static_cast<int64_t>(i)) return false;
    return true;
  }
};

std::optional<SourceGather> below(const Match& m, NodeId transpose) {
  const auto perm = permutation(m, transpose);
  const auto axis = m.axis(m.root(), "axis", 0, m.operand(m.root(), 0)), picks = m.rank(m.operand(m.root(), 1));
  if (!perm || !axis || !picks) return std::nullopt;
  SourceGather found{m.operand(transpose, 0), (*perm)[*axis], {}};
  // Axis a of x is axis a, or a + picks - 1 after the gathered one; the picks begin at found.axis.
  for (size_t i = 0; i < perm->size(); ++i) {
    const int64_t a = (*perm)[i];
    if (static_cast<int>(i) != *axis) found.order.push_back(a < found.axis ? a : a + *picks - 1);
    else
      for (int k = 0; k < *picks; ++k) found.order.push_back(found.axis + k);
  }
  return found;
}

bool needless(Match& m) {
  const NodeId transpose = m.producer(m.operand(m.root(), 0), "Transpose");
  auto found = transpose ? below(m, transpose) : std::nullopt;
  if (!found || !found->in_order()) return false;
  return m.accept(std::move(*found));
}

bool movable(Match& m) {
  const NodeId transpose = m.take(m.operand(m.root(), 0), "Transpose");
  auto found = transpose ? below(m, transpose) : std::nullopt;
  if (!found || found->in_order()) return false;
  return m.accept(std::move(*found));
}

bool gather_first(const Match& m, Rewriter& w) {
  const SourceGather& found = m.state<SourceGather>();
  ValueId y = w("Gather", {found.x, m.operand(m.root(), 1)}, {{"axis", found.axis}});
  if (!found.in_order()) y = w("Transpose", {y}, {{"perm", found.order}});
  return replace_root(m, w, y);
}

}  // namespace

RULES(clean_transpose_gather) {
    .sets = "default",
    .rules =
        {
            {.name = "transpose_gather_drop",
             .docs = "a Transpose whose only effect is the place of the gathered axis",
             .roots = "Gather",
             .match = needless,
             .rewrite = gather_first,
             .benefit = 5,
             .allow_outside_uses = true,
             .sets = "tenon default",
             .covered_patterns = "TransposeGather"},
            {.name = "transpose_gather_swap",
             .docs = "Gather of a Transpose is a Transpose of what is gathered",
             .roots = "Gather",
             .match = movable,
             .rewrite = gather_first,
             .benefit = 2,
             .covered_patterns = "TransposeGather"},
        },
};

}  // namespace tenon::rules::clean_transpose_gather
