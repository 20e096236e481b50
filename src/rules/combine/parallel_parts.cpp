// SPDX-License-Identifier: Apache-2.0
// Slices, or Gathers of single elements, that together take one axis of a value apart: one Split. Exact: each part holds the same
// elements. Only where the parts cover the axis exactly once. In a late stage: fusions recognise the single picks.
#include <algorithm>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/last_axis_slice.h"

namespace tenon::rules::combine_parallel_parts {
using namespace rewrite;
namespace {

struct Part {
  NodeId node;
  int64_t begin, end;
  bool drops_axis;
};
struct Parts {
  std::vector<Part> parts;
  int axis;
};

std::optional<int> axis_of(const Match& m, NodeId node) {
  const ValueId data = m.operand(node, 0);
  if (m.node(node).is("Gather")) return m.axis(node, "axis", 0, data);
  auto axis = single_integer(m, m.operand(node, 3), 0);
  const auto rank = m.rank(data);
  if (!axis || !rank || *axis < -*rank || *axis >= *rank) return std::nullopt;
  return static_cast<int>(*axis < 0 ? *axis + *rank : *axis);
}

/// The elements of an axis of `size` that a Slice with a step of one, or a Gather of one element, takes.
std::optional<Part> part_at(const Match& m, NodeId node, int64_t size) {
  const auto from_start = [size](int64_t at) { return at < 0 ? at + size : at; };
  const auto first = single_integer(m, m.operand(node, 1), std::nullopt);
  if (!first) return std::nullopt;
  const int64_t begin = from_start(*first);
  if (m.node(node).is("Gather")) {
    const auto rank = m.rank(m.operand(node, 1));
    if (!rank || *rank > 1 || begin < 0 || begin >= size) return std::nullopt;
    return Part{node, begin, begin + 1, *rank == 0};
  }
  const auto last = single_integer(m, m.operand(node, 2), std::nullopt);
  if (!last || single_integer(m, m.operand(node, 4), 1) != 1) return std::nullopt;
  return Part{node, std::clamp<int64_t>(begin, 0, size), std::clamp<int64_t>(from_start(*last), 0, size), false};
}

/// Siblings of the root along its axis that take it apart; the root is the first of them in the graph.
/// Side by side, from the first element of the axis to the last.
bool cover(const std::vector<Part>& parts, int64_t size) {
  int64_t covered = 0;
  for (const Part& p : parts) {
    if (p.begin != covered || p.end <= p.begin) return false;
    covered = p.end;
  }
  return covered == size;
}

bool take_apart(Match& m) {
  const ValueId data = m.operand(m.root(), 0);
  const auto axis = axis_of(m, m.root());
  if (!axis || !(*m.shape(data))[*axis].is_number()) return false;
  const int64_t size = (*m.shape(data))[*axis].value();
  Parts found{{}, *axis};
  for (const ir::Use& use : m.value(data).uses) {
    if (!use.node || use.slot != 0 || m.node(use.node).op != m.node(m.root()).op || axis_of(m, use.node) != axis) continue;
    const auto part = part_at(m, use.node, size);
    if (!part) return m.refuse("not every part of the axis is known");
    if (m.graph().is_before(use.node, m.root())) return false;
    found.parts.push_back(*part);
  }
  std::ranges::sort(found.parts, {}, &Part::begin);
  if (!cover(found.parts, size) || found.parts.size() < 2) return m.refuse("the parts do not cover the axis exactly once");
  return m.accept(std::move(found));
}

bool split(const Match& m, Rewriter& w) {
  const Parts& found = m.state<Parts>();
  std::vector<int64_t> sizes;
  for (const Part& p : found.parts) sizes.push_back(p.end - p.begin);
  const ValueId whole = m.operand(m.root(), 0);
  const bool even = std::ranges::all_of(sizes, [&](int64_t size) { return size == sizes.front(); });
  const auto count = static_cast<int64_t>(sizes.size());
  const auto results = even ? w.many("Split", {whole}, sizes.size(), {{"axis", int64_t{found.axis}}, {"num_outputs", count}})
                            : w.many("Split", {whole, w.ints(sizes)}, sizes.size(), {{"axis", int64_t{found.axis}}});
  for (size_t i = 0; i < results.size(); ++i) {
    const Part& p = found.parts[i];
    w.replace(m.result(p.node), p.drops_axis ? w("Squeeze", {results[i], w.ints({found.axis})}) : results[i]);
  }
  return true;
}

}  // namespace

RULES(combine_parallel_parts) {
    .sets = "default",
    .rules =
        {
            {.name = "slices_split",
             .docs = "Slices that take an axis apart are one Split",
             .roots = "Slice",
             .match = take_apart,
             .rewrite = split,
             .benefit = 3,
             .allow_outside_uses = true,
             .covered_patterns = "SlicesSplit"},
            {.name = "gathers_split",
             .docs = "Gathers of each element of an axis are one Split, and a Squeeze each",
             .roots = "Gather",
             .match = take_apart,
             .rewrite = split,
             .benefit = 3,
             .allow_outside_uses = true,
             .covered_patterns = "GathersSplit"},
        },
};

}  // namespace tenon::rules::combine_parallel_parts
