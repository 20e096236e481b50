// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/group_rows.h"

#include <algorithm>

#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/places.h"
#include "codegen/analysis/readers.h"

namespace tenon::codegen {

namespace {

/// Whether some nest of the group reduces or scans an axis.
bool has_reduction(const Group& g) {
  for (const Nest& n : g.nests)
    for (const ops::Axis& axis : n.axes)
      if (axis.kind != ops::Axis::Kind::parallel) return true;
  return false;
}

/// The number of leading parallel axes.
int leading_parallel_axes(const Nest& n) {
  int count = 0;
  while (count < static_cast<int>(n.axes.size()) && n.axes[count].kind == ops::Axis::Kind::parallel) ++count;
  return count;
}

/// Whether the first `outer` indices are the first `outer` axes.
bool indexed_by_outer(const std::vector<Expr>& index, int outer, const Nest& nest) {
  if (static_cast<int>(index.size()) < outer) return false;
  for (int d = 0; d < outer; ++d)
    if (!is_axis(index[d], d, nest)) return false;
  return true;
}

/// Whether the bytes of `array` are those of `made`: itself, or a reshape of it.
bool is_or_shares(ArrayId array, ArrayId made, const Plan& plan) {
  while (array >= 0 && array != made) array = plan.arrays[array].same_bytes;
  return array == made;
}

/// The number of leading axes that all nests can share: they have equal extents, and an element that one nest writes is read by another
/// only at the same step of these axes.
int shared_outer(const std::vector<const Nest*>& nests, const Plan& plan) {
  int outer = leading_parallel_axes(*nests[0]);
  for (const Nest* n : nests) {
    int common = 0;
    while (common < std::min(outer, leading_parallel_axes(*n)) && n->axes[common].extent == nests[0]->axes[common].extent) ++common;
    outer = common;
  }
  for (const Nest* writer : nests)
    for (const NestOutput& o : writer->outputs)
      for (const Nest* reader : nests)
        for (const NestAccess& a : reader->accesses)
          if (is_or_shares(a.array, o.array, plan))
            while (outer > 0 &&
                   !(a.array == o.array && indexed_by_outer(a.index, outer, *reader) && indexed_by_outer(o.index, outer, *writer)))
              --outer;
  return outer;
}

/// Whether g reads a result of `writer`.
bool reads(const Group& g, const Group& writer, const Plan& plan) {
  for (const Nest& w : writer.nests)
    for (const NestOutput& o : w.outputs) {
      const auto reads_output = [&](const NestAccess& a) { return is_or_shares(a.array, o.array, plan); };
      for (const Nest& n : g.nests)
        if (std::ranges::any_of(n.accesses, reads_output)) return true;
      if (g.epilogue && std::ranges::any_of(g.epilogue->map.accesses, reads_output)) return true;
      if (std::ranges::any_of(g.inputs, [&](ArrayId a) { return is_or_shares(a, o.array, plan); })) return true;
    }
  return false;
}

/// Whether memory is contiguous along an outer axis and strided along inner ones (pixels of a channel in a channels-last image). In a
/// kernel of its own, the nest is vectorised along the outer axis; in a shared one it would access single elements.
bool steps_over_neighbours(const Nest& n, int outer, const Plan& plan) {
  const int axes = static_cast<int>(n.axes.size());
  const auto steps = [&](const auto& place) {
    const auto at = affine_of(flat_of(place, plan), axes);
    const auto moves = [&](int x, bool by_one) {
      const bool one = at->coefficients[x] == Dim(1);
      return !(n.axes[x].extent == Dim(1)) && !(at->coefficients[x] == Dim(0)) && one == by_one;
    };
    const auto any = [&](int from, int to, bool by_one) {
      for (int x = from; x < to; ++x)
        if (moves(x, by_one)) return true;
      return false;
    };
    return at && any(0, outer, true) && any(outer, axes, false);
  };
  return std::ranges::any_of(n.accesses, steps) || std::ranges::any_of(n.outputs, steps);
}

/// Whether the nest sums rows that fill little of a register (two or three elements, or windows of a pooling) while an outer axis has
/// contiguous results. In a kernel of its own, the nest is vectorised along that axis.
bool sums_short_rows(const Nest& n, int outer, const Plan& plan) {
  constexpr int64_t kLanes = 16, kFew = 4;
  const int axes = static_cast<int>(n.axes.size());
  if (axes == outer || n.axes.back().kind != ops::Axis::Kind::reduced || !n.axes.back().extent.less(kLanes).value_or(false)) return false;
  const auto moves = [&](const Affine& index, int x) { return !(index.coefficients[x] == Dim(0)) && !(n.axes[x].extent == Dim(1)); };
  const auto result = affine_of(flat_of(n.outputs[0], plan), axes);
  int along = -1;
  for (int x = 0; x < outer && result; ++x)
    if (result->coefficients[x] == Dim(1) && !n.axes[x].extent.less(kLanes / 2).value_or(false)) along = x;
  if (along < 0) return false;
  if (axes == outer + 1 && n.axes.back().extent.less(kFew).value_or(false)) return true;
  const auto is_window = [&](const Expr& e) {
    const auto index = affine_of(e, axes);
    return index && moves(*index, axes - 1) && moves(*index, along);
  };
  return std::ranges::any_of(n.accesses, [&](const NestAccess& a) { return std::ranges::any_of(a.index, is_window); });
}

/// Whether both groups write to one array: the later one may overwrite elements of the earlier one.
bool share_an_output(const Group& a, const Group& b) {
  const auto writes = [](const Group& g, ArrayId array) {
    for (const Nest& n : g.nests)
      for (const NestOutput& o : n.outputs)
        if (o.array == array) return true;
    return false;
  };
  for (const Nest& n : a.nests)
    for (const NestOutput& o : n.outputs)
      if (writes(b, o.array)) return true;
  return false;
}

/// Joins `second` to `first`, if no parallelism is lost: all parallel axes of each nest with a reduction remain outer axes. Whether it did.
bool join(Group& first, Group& second, const Plan& plan) {
  if (!has_reduction(first) && !has_reduction(second)) return false;
  if (first.nests.size() + second.nests.size() > plan.limits.max_nests) return false;
  for (const Group* g : {&first, &second})
    if (std::ranges::any_of(g->nests, scatters)) return false;
  std::vector<const Nest*> nests;
  for (const Group* g : {&first, &second})
    for (const Nest& n : g->nests) nests.push_back(&n);
  const int outer = shared_outer(nests, plan);
  if (outer == 0) return false;
  for (const Nest* n : nests) {
    if (leading_parallel_axes(*n) != static_cast<int>(n->axes.size()) && leading_parallel_axes(*n) != outer) return false;
    if (steps_over_neighbours(*n, outer, plan) || sums_short_rows(*n, outer, plan)) return false;
  }
  if (share_an_output(first, second)) return false;  // a partial writer (Concat) stays alone
  second.nests.insert(second.nests.begin(), std::make_move_iterator(first.nests.begin()), std::make_move_iterator(first.nests.end()));
  second.as<LoopGroup>().outer = outer;
  first.nests.clear();
  return true;
}

}  // namespace

void group_rows(Plan& plan) {
  for (size_t g = 1; g < plan.groups.size(); ++g) {
    if (plan.groups[g].kind() != GroupKind::nests || plan.groups[g].nests.empty()) continue;
    for (size_t back = 1; back <= std::min(g, plan.limits.look_back); ++back) {
      Group& first = plan.groups[g - back];
      if (first.kind() != GroupKind::nests || first.nests.empty() || !reads(plan.groups[g], first, plan)) continue;
      // The earlier group moves down to this one, so no group in between may read its results or write the same arrays.
      bool can_move = true;
      for (size_t k = g - back + 1; k < g; ++k) can_move &= !reads(plan.groups[k], first, plan) && !share_an_output(plan.groups[k], first);
      if (can_move) join(first, plan.groups[g], plan);
    }
  }
  std::erase_if(plan.groups, [](const Group& g) { return g.kind() == GroupKind::nests && g.nests.empty(); });
}

}  // namespace tenon::codegen
