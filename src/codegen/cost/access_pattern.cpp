// SPDX-License-Identifier: Apache-2.0
#include "codegen/cost/access_pattern.h"

#include <algorithm>

#include "codegen/analysis/places.h"

namespace tenon::codegen {

namespace {

/// A step in elements, with 64 for each symbol.
int64_t typical_step(Dim step) {
  constexpr int64_t kSymbolValue = 64;
  const Dim size = substitute(step, [](const DimNode&) { return Dim(kSymbolValue); });
  return std::abs(size.number().value_or(0));
}

/// Compares the order of task numbers with the order of the elements that one access reaches.
struct TaskOrder {
  const Affine& place;
  const Nest& nest;
  const std::vector<TaskAxis>& tasks;
  /// Axes of task components before the current one.
  std::vector<bool> passed = std::vector<bool>(nest.axes.size(), false);
  bool is_whole = false;

  int64_t step(int axis) const { return nest.axes[axis].extent == Dim(1) ? 0 : typical_step(place.coefficients[axis]); }

  int64_t step(const TaskAxis& task) const {
    int64_t out = 0;
    for (const int x : task.axes) out = std::max(out, step(x));
    return out;
  }

  int64_t largest_remaining_step() const {
    int64_t out = 0;
    for (int x = 0; x < static_cast<int>(nest.axes.size()); ++x)
      if (!passed[x]) out = std::max(out, step(x));
    return out;
  }

  /// The number of parts (AccessPattern::parts) that components `k` and later of a task number make.
  Dim parts_from(size_t k) {
    if (k == tasks.size()) return 1;
    const TaskAxis& task = tasks[k];
    const int64_t own_step = step(task), largest = largest_remaining_step();
    const bool in_order = own_step > 0 && own_step >= largest;
    if (!in_order) {
      is_whole = own_step == 0;
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

void AccessPatterns::add(const Nest& nest) {
  const int axes = static_cast<int>(nest.axes.size());
  Dim points = 1;
  for (const ops::Axis& a : nest.axes) points = points * a.extent;
  for (const NestAccess& a : nest.accesses) add(a.array, affine_of(flat_of(a, plan_), axes), nest, points, false);
  for (const NestOutput& o : nest.outputs) add(o.array, affine_of(flat_of(o, plan_), axes), nest, points, true);
}

void AccessPatterns::add(ArrayId array, const std::optional<Affine>& place, const Nest& nest, Dim elements, bool written) {
  AccessPattern pattern{.elements = elements, .written = written};
  if (place) {
    TaskOrder order{*place, nest, tasks_};
    pattern.parts = order.parts_from(0);
    pattern.whole = order.is_whole;
  }
  const auto [known, fresh] = patterns_.emplace(array, pattern);
  if (fresh) return;
  AccessPattern& all = known->second;
  all.elements = all.elements + elements;
  all.parts = min(all.parts, pattern.parts);
  all.whole |= pattern.whole;
  all.written |= written;
}

std::vector<AccessPattern> AccessPatterns::of(const std::vector<ArrayId>& arguments) const {
  std::vector<AccessPattern> out;
  for (const ArrayId a : arguments) {
    const auto known = patterns_.find(a);
    out.push_back(known == patterns_.end() ? AccessPattern{} : known->second);
  }
  return out;
}

}  // namespace tenon::codegen
