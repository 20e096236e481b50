// SPDX-License-Identifier: Apache-2.0
// A reduction that keeps its axes as ones, which are then taken away, need not keep them.
#include <algorithm>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::clean_reduce_reshape {
using namespace rewrite;
namespace {

bool is_arg(const Node& node) { return node.is("ArgMax") || node.is("ArgMin"); }
bool is_reduction(const Node& node) { return (node.op->domain.empty() && node.op->name.starts_with("Reduce")) || is_arg(node); }

/// Axes that the node reduces, from the front.
std::optional<ir::Ints> reduced_axes(const Match& m, NodeId node, int64_t rank) {
  const auto& attributes = m.node(node).attributes;
  ir::Ints axes;
  if (is_arg(m.node(node))) {
    axes = {attributes.integer("axis", 0)};
  } else if (m.operand(node, 1)) {
    const auto given = m.ints(m.operand(node, 1));
    if (!given) return std::nullopt;
    axes = *given;
  }
  if (axes.empty() && attributes.integer("noop_with_empty_axes", 0) != 0) return std::nullopt;
  const bool all = axes.empty();
  for (int64_t i = 0; i < rank && all; ++i) axes.push_back(i);
  for (int64_t& a : axes) a += a < 0 ? rank : 0;
  return axes;
}

bool axes_taken_away(Match& m) {
  const NodeId reduction = m.producer(m.operand(m.root(), 0));
  if (!reduction || !is_reduction(m.node(reduction)) || m.node(reduction).attributes.integer("keepdims", 1) == 0) return false;
  m.take(reduction);
  const DimList *from = m.shape(m.operand(reduction, 0)), *to = m.shape(m.result(m.root()));
  if (!from || !to) return m.refuse("the shapes are not known");
  const auto axes = reduced_axes(m, reduction, static_cast<int64_t>(from->size()));
  if (!axes) return m.refuse("the axes are not known, or none");
  DimList left;
  for (size_t i = 0; i < from->size(); ++i)
    if (!std::ranges::count(*axes, static_cast<int64_t>(i))) left.push_back((*from)[i]);
  if (!std::ranges::equal(left, *to, [](Dim a, Dim b) { return a.known_equal(b); })) return m.refuse("other dims are left");
  return true;
}

bool drop_axes(const Match& m, Rewriter& w) {
  const Node& reduction = m.node(m.nodes[1]);
  ir::Attributes attributes = reduction.attributes;
  attributes.set("keepdims", int64_t{0});
  const auto made = w.many(*reduction.op, {reduction.inputs.begin(), reduction.inputs.end()}, 1, std::move(attributes));
  return replace_root(m, w, made.empty() ? ValueId{} : made[0]);
}

}  // namespace

RULES(clean_reduce_reshape) {
    .sets = "tenon default",
    .rules =
        {
            {.name = "reduce_reshape",
             .docs = "a reduction with keepdims whose axes are then taken away is one without",
             .roots = "Reshape Squeeze",
             .match = axes_taken_away,
             .rewrite = drop_axes,
             .benefit = 4,
             .covered_patterns = "ReduceReshape"},
        },
};

}  // namespace tenon::rules::clean_reduce_reshape
