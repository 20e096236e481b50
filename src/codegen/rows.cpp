// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "codegen/fuse.h"
#include "codegen/readers.h"

namespace tenon::codegen {

namespace {

constexpr size_t kMostNests = 10;

bool has_row(const Group& g) {
  for (const Nest& n : g.nests)
    for (const ops::Axis& axis : n.axes)
      if (axis.kind != ops::Axis::Kind::parallel) return true;
  return false;
}

/// Leading parallel axes.
int leading(const Nest& n) {
  int count = 0;
  while (count < static_cast<int>(n.axes.size()) && n.axes[count].kind == ops::Axis::Kind::parallel) ++count;
  return count;
}

bool indexed_by_outer(const std::vector<Expr>& index, int outer, const Nest& nest) {
  if (static_cast<int>(index.size()) < outer) return false;
  for (int d = 0; d < outer; ++d)
    if (!is_axis(index[d], d, nest)) return false;
  return true;
}

/// How many leading axes all nests share, such that whatever one writes and another reads stays within one step of them.
int shared_outer(const std::vector<const Nest*>& nests) {
  int outer = leading(*nests[0]);
  for (const Nest* n : nests) {
    int same = 0;
    while (same < std::min(outer, leading(*n)) && n->axes[same].extent == nests[0]->axes[same].extent) ++same;
    outer = same;
  }
  for (const Nest* writer : nests)
    for (const NestOutput& o : writer->outputs)
      for (const Nest* reader : nests)
        for (const NestAccess& a : reader->accesses)
          if (a.array == o.array)
            while (outer > 0 && !(indexed_by_outer(a.index, outer, *reader) && indexed_by_outer(o.index, outer, *writer))) --outer;
  return outer;
}

bool reads(const Group& g, const Group& writer) {
  for (const Nest& w : writer.nests)
    for (const NestOutput& o : w.outputs) {
      for (const Nest& n : g.nests)
        for (const NestAccess& a : n.accesses)
          if (a.array == o.array) return true;
      if (g.epilogue)
        for (const NestAccess& a : g.epilogue->map.accesses)
          if (a.array == o.array) return true;
    }
  return false;
}

/// Joined only where no parallelism is lost: every loop with a reduction keeps all its parallel axes as outer ones.
bool join(Group& first, Group& second) {
  if (!has_row(first) && !has_row(second)) return false;
  if (first.nests.size() + second.nests.size() > kMostNests) return false;
  std::vector<const Nest*> nests;
  for (const Group* g : {&first, &second})
    for (const Nest& n : g->nests) nests.push_back(&n);
  const int outer = shared_outer(nests);
  if (outer == 0) return false;
  for (const Nest* n : nests)
    if (leading(*n) != static_cast<int>(n->axes.size()) && leading(*n) != outer) return false;
  // One writer an array: a partial writer (Concat) stays alone.
  for (const Nest& n : first.nests)
    for (const NestOutput& o : n.outputs)
      for (const Nest& m : second.nests)
        for (const NestOutput& p : m.outputs)
          if (o.array == p.array) return false;
  second.nests.insert(second.nests.begin(), std::make_move_iterator(first.nests.begin()), std::make_move_iterator(first.nests.end()));
  second.outer = outer;
  first.nests.clear();
  return true;
}

}  // namespace

void group_rows(Plan& plan) {
  constexpr size_t kLookBack = 8;
  for (size_t g = 1; g < plan.groups.size(); ++g) {
    if (plan.groups[g].kind != GroupKind::nests || plan.groups[g].nests.empty()) continue;
    for (size_t back = 1; back <= std::min(g, kLookBack); ++back) {
      Group& first = plan.groups[g - back];
      if (first.kind != GroupKind::nests || first.nests.empty() || !reads(plan.groups[g], first)) continue;
      // The earlier group moves down to this one: nobody in between may need it.
      bool free = true;
      for (size_t k = g - back + 1; k < g; ++k) {
        free &= !reads(plan.groups[k], first);
        for (ArrayId a : plan.groups[k].inputs)
          for (const Nest& n : first.nests)
            for (const NestOutput& o : n.outputs)
              for (ArrayId x = a; x >= 0; x = plan.arrays[x].same_bytes) free &= x != o.array;
      }
      if (free) join(first, plan.groups[g]);
    }
  }
  std::erase_if(plan.groups, [](const Group& g) { return g.kind == GroupKind::nests && g.nests.empty(); });
}

}  // namespace tenon::codegen
