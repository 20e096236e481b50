// SPDX-License-Identifier: Apache-2.0
#include "rules/helpers/expands.h"

#include <algorithm>

namespace tenon::rules {
namespace {

/// Dim `axis` of a shape that is lined up at the back with one of `rank` dims; 1 in front of it.
Dim lined_up(const DimList& shape, size_t axis, size_t rank) {
  const size_t shift = rank - shape.size();
  return axis < shift ? Dim(1) : shape[axis - shift];
}

std::optional<ir::Ints> numbers_of(const DimList& from, const DimList& to) {
  if (from.size() > to.size()) return std::nullopt;
  ir::Ints out;
  for (size_t i = 0; i < to.size(); ++i) {
    const Dim before = lined_up(from, i, to.size());
    if (before.known_equal(to[i])) out.push_back(1);
    else if (to[i].is_number()) out.push_back(to[i].value());
    else return std::nullopt;
  }
  return out;
}

}  // namespace

std::optional<DimList> broadcast_of(const DimList& a, const DimList& b) {
  DimList out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    const Dim x = lined_up(a, i, out.size()), y = lined_up(b, i, out.size());
    if (x.known_equal(1)) out[i] = y;
    else if (y.known_equal(1) || x.known_equal(y)) out[i] = x;
    else return std::nullopt;
  }
  return out;
}

std::optional<ExpandTarget> expand_target(const rewrite::GraphQuery& query, const DimList& from, const DimList& to,
                                          std::span<const ir::NodeId> expands) {
  if (auto numbers = numbers_of(from, to)) return ExpandTarget{std::move(numbers), {}};
  for (ir::NodeId node : expands) {
    const auto wanted = query.graph().view(node).dims(1);
    const auto made = wanted ? broadcast_of(from, *wanted) : std::nullopt;
    if (!made || made->size() != to.size()) continue;
    if (std::ranges::equal(*made, to, [](Dim a, Dim b) { return a.known_equal(b); })) return ExpandTarget{{}, query.operand(node, 1)};
  }
  return std::nullopt;
}

ir::ValueId expand(rewrite::Rewriter& w, ir::ValueId value, const ExpandTarget& target) {
  return w("Expand", {value, target.numbers ? w.ints(*target.numbers) : target.value});
}

}  // namespace tenon::rules
