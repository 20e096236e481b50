// SPDX-License-Identifier: Apache-2.0
#include "rules/helpers/axis_groups.h"

#include <algorithm>

namespace tenon::rules {
namespace {

/// Which side of an unfinished group takes another axis: the one whose product divides the other's. 0: from; 1: to.
std::optional<int> shorter(Dim from, Dim to) {
  if (from.known_equal(0) || to.known_equal(0)) return std::nullopt;
  if (exact_quotient(to, from)) return 0;
  if (exact_quotient(from, to)) return 1;
  if (from.is_number() && to.is_number()) return from.value() < to.value() ? 0 : 1;
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<AxisGroup>> axis_groups(const DimList& from, const DimList& to) {
  std::vector<AxisGroup> groups;
  const int64_t m = static_cast<int64_t>(from.size()), n = static_cast<int64_t>(to.size());
  int64_t i = 0, j = 0;
  while (i < m && j < n) {
    AxisGroup group{i, i + 1, j, j + 1};
    Dim a = from[i], b = to[j];
    while (!a.known_equal(b)) {
      const auto side = shorter(a, b);
      if (!side) return std::nullopt;
      if (*side == 0) {
        if (group.from_end == m) return std::nullopt;
        a = a * from[group.from_end++];
      } else {
        if (group.to_end == n) return std::nullopt;
        b = b * to[group.to_end++];
      }
    }
    i = group.from_end;
    j = group.to_end;
    groups.push_back(group);
  }
  // Remaining axes have size 1 and belong to the last group.
  const auto ones = [](auto begin, auto end) { return std::all_of(begin, end, [](Dim d) { return d.known_equal(1); }); };
  if (groups.empty() || !ones(from.begin() + i, from.end()) || !ones(to.begin() + j, to.end())) return std::nullopt;
  groups.back().from_end = m;
  groups.back().to_end = n;
  return groups;
}

bool are_adjacent_in_order(const ir::Ints& perm, int64_t begin, int64_t end) {
  const auto first = std::ranges::find(perm, begin);
  if (end - begin > perm.end() - first) return false;
  for (int64_t k = 0; k < end - begin; ++k)
    if (first[k] != begin + k) return false;
  return true;
}

std::optional<TransposeAfterReshape> transpose_after_reshape(const std::vector<AxisGroup>& groups, const ir::Ints& order,
                                                             const DimList& result) {
  TransposeAfterReshape out{{}, ir::Ints(result.size())};
  std::vector<AxisGroup> by_operand = groups;
  for (const AxisGroup& g : groups)
    for (int64_t i = g.from + 1; i < g.from_end; ++i)
      if (order[i] != order[i - 1] + 1) return std::nullopt;
  std::ranges::sort(by_operand, {}, [&](const AxisGroup& g) { return order[g.from]; });
  for (const AxisGroup& g : by_operand)
    for (int64_t to = g.to; to < g.to_end; ++to) {
      out.order[to] = static_cast<int64_t>(out.shape.size());
      out.shape.push_back(result[to]);
    }
  return out;
}

}  // namespace tenon::rules
