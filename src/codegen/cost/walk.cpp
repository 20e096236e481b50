// SPDX-License-Identifier: Apache-2.0
#include "codegen/cost/walk.h"

#include <algorithm>

#include "codegen/analysis/places.h"

namespace tenon::codegen {

namespace {

/// A step in elements; sizes that are known only at run time count as many.
int64_t usual(Dim step) {
  constexpr int64_t kMany = 64;
  const Dim settled = substitute(step, [](const DimNode&) { return Dim(kMany); });
  return std::abs(settled.number().value_or(0));
}

/// Follows the tasks through one place.
struct Order {
  const Affine& place;
  const Nest& nest;
  const std::vector<TaskAxis>& tasks;
  std::vector<bool> passed = std::vector<bool>(nest.axes.size(), false);
  bool whole = false;

  int64_t step(int axis) const { return nest.axes[axis].extent == Dim(1) ? 0 : usual(place.coefficients[axis]); }

  int64_t step(const TaskAxis& task) const {
    int64_t out = 0;
    for (const int x : task.axes) out = std::max(out, step(x));
    return out;
  }

  int64_t largest_left() const {
    int64_t out = 0;
    for (int x = 0; x < static_cast<int>(nest.axes.size()); ++x)
      if (!passed[x]) out = std::max(out, step(x));
    return out;
  }

  /// Parts that the tasks' numbers from `k` on have in order.
  Dim parts_from(size_t k) {
    if (k == tasks.size()) return 1;
    const TaskAxis& task = tasks[k];
    const int64_t here = step(task), largest = largest_left();
    const bool in_order = here > 0 && here >= largest;
    if (!in_order) {
      whole = here == 0;
      if (task.extent.is_number() && task.extent != Dim(1)) return 1;
    }
    if (!task.in_parts)
      for (const int x : task.axes) passed[x] = true;
    const Dim further = parts_from(k + 1);
    return in_order ? task.extent * further : select(less_than(Dim(1), task.extent), Dim(1), further);
  }
};

}  // namespace

std::vector<TaskAxis> tasks_over(const std::vector<int>& axes, const Nest& nest) {
  std::vector<TaskAxis> out;
  for (const int x : axes) out.push_back({{x}, nest.axes[x].extent});
  return out;
}

void Walks::add(const Nest& nest) {
  const int axes = static_cast<int>(nest.axes.size());
  Dim points = 1;
  for (const ops::Axis& a : nest.axes) points = points * a.extent;
  for (const NestAccess& a : nest.accesses) add(a.array, affine_of(flat_of(a, plan_), axes), nest, points, false);
  for (const NestOutput& o : nest.outputs) add(o.array, affine_of(flat_of(o, plan_), axes), nest, points, true);
}

void Walks::add(ArrayId array, const std::optional<Affine>& place, const Nest& nest, Dim elements, bool written) {
  Walk walk{.elements = elements, .written = written};
  if (place) {
    Order order{*place, nest, tasks_};
    walk.parts = order.parts_from(0);
    walk.whole = order.whole;
  }
  const auto [known, fresh] = walks_.emplace(array, walk);
  if (fresh) return;
  Walk& all = known->second;
  all.elements = all.elements + elements;
  all.parts = min(all.parts, walk.parts);
  all.whole |= walk.whole;
  all.written |= written;
}

std::vector<Walk> Walks::of(const std::vector<ArrayId>& arguments) const {
  std::vector<Walk> out;
  for (const ArrayId a : arguments) {
    const auto known = walks_.find(a);
    out.push_back(known == walks_.end() ? Walk{} : known->second);
  }
  return out;
}

}  // namespace tenon::codegen
