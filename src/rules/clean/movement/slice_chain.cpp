// SPDX-License-Identifier: Apache-2.0
// A Slice treats each axis on its own, so two of them on different axes are one with both lists.
#include <algorithm>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::clean_slice_chain {
using namespace rewrite;
namespace {

/// Operands of Slice: data, starts, ends, axes, steps.
constexpr size_t kStarts = 1, kEnds = 2, kAxes = 3, kSteps = 4;

/// The axes of a Slice, from the front; nullopt where they are not known.
std::optional<ir::Ints> sliced_axes(const Match& m, NodeId node) {
  const DimList* starts = m.shape(m.operand(node, kStarts));
  if (!starts || starts->size() != 1 || !(*starts)[0].is_number()) return std::nullopt;
  if (!m.operand(node, kAxes)) {
    ir::Ints all;
    for (int64_t i = 0; i < (*starts)[0].value(); ++i) all.push_back(i);
    return all;
  }
  auto axes = m.ints(m.operand(node, kAxes));
  const auto rank = m.rank(m.operand(node, 0));
  if (!axes) return std::nullopt;
  for (int64_t& a : *axes) {
    if (a < 0 && !rank) return std::nullopt;
    a += a < 0 ? *rank : 0;
  }
  return axes;
}

struct Axes {
  ir::Ints first, second;
};

bool other_axes(Match& m) {
  const NodeId inner = m.take(m.operand(m.root(), 0), "Slice");
  if (!inner) return false;
  auto first = sliced_axes(m, inner), second = sliced_axes(m, m.root());
  if (!first || !second) return m.refuse("the axes are not known");
  for (int64_t a : *second)
    if (std::ranges::count(*first, a)) return m.refuse("both slice one axis");
  return m.accept(Axes{std::move(*first), std::move(*second)});
}

/// All places that are not constant.
std::vector<ValueId> computed_places(const Match& m) {
  std::vector<ValueId> out;
  for (NodeId node : {m.nodes[1], m.root()})
    for (size_t k : {kStarts, kEnds, kSteps})
      if (const ValueId v = m.operand(node, k); v && !m.ints(v)) out.push_back(v);
  return out;
}

bool known_places(Match& m) { return other_axes(m) && (computed_places(m).empty() || m.refuse("places are computed")); }
bool some_computed(Match& m) {
  if (!other_axes(m)) return false;
  const auto computed = computed_places(m);
  if (std::ranges::any_of(computed, [&](ValueId v) { return m.dtype(v) != DType::i64; })) return m.refuse("computed places are not i64");
  return !computed.empty();
}

/// Operand `slot` of both, one after the other; ones where a Slice has no steps.
ValueId operand_of_head_split(const Match& m, Rewriter& w, size_t slot) {
  const Axes& axes = m.state<Axes>();
  const ValueId a = m.operand(m.nodes[1], slot), b = m.operand(m.root(), slot);
  if (!a && !b) return {};
  auto x = a ? m.ints(a) : ir::Ints(axes.first.size(), 1), y = b ? m.ints(b) : ir::Ints(axes.second.size(), 1);
  if (!x || !y) return w("Concat", {x ? w.ints(*x) : a, y ? w.ints(*y) : b}, {{"axis", int64_t{0}}});
  x->insert(x->end(), y->begin(), y->end());
  return w.ints(std::move(*x));
}

bool one_slice(const Match& m, Rewriter& w) {
  ir::Ints axes = m.state<Axes>().first;
  axes.insert(axes.end(), m.state<Axes>().second.begin(), m.state<Axes>().second.end());
  std::vector<ValueId> inputs{m.operand(m.nodes[1], 0), operand_of_head_split(m, w, kStarts), operand_of_head_split(m, w, kEnds),
                              w.ints(std::move(axes))};
  if (const ValueId steps = operand_of_head_split(m, w, kSteps)) inputs.push_back(steps);
  return replace_root(m, w, w("Slice", inputs));
}

}  // namespace

RULES(clean_slice_chain) {
    .sets = "tenon default",
    .rules =
        {
            {.name = "slice_slice",
             .docs = "two Slices on different axes are one",
             .roots = "Slice",
             .match = known_places,
             .rewrite = one_slice,
             .benefit = 4,
             .covered_patterns = "SliceSlice"},
            {.name = "slice_slice_computed",
             .docs = "the same where some places are computed: their lists are joined at the run",
             .roots = "Slice",
             .match = some_computed,
             .rewrite = one_slice,
             .benefit = 3,
             .sets = "default",
             .covered_patterns = "SliceSlice"},
        },
};

}  // namespace tenon::rules::clean_slice_chain
