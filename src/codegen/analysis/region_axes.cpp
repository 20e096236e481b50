// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/region_axes.h"

#include <algorithm>

#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/window_sum.h"

namespace tenon::codegen {

namespace {

using ops::Axis;

void add_axis(std::vector<int>& list, int axis, const Nest& nest) {
  if (nest.axes[axis].kind == Axis::Kind::parallel && !(nest.axes[axis].extent == Dim(1))) list.push_back(axis);
}

/// Axes that can number the tasks of a single loop: those of its result in memory order, but for the innermost, which is vectorised.
std::vector<int> axes_in_memory(const Nest& nest, const Plan& plan) {
  const NestOutput& o = nest.outputs[0];
  const Array& array = plan.arrays[o.array];
  std::vector<int> out;
  for (size_t k = 0; k + 1 < o.index.size(); ++k) {
    const size_t d = array.order.empty() ? k : static_cast<size_t>(array.order[k]);
    const Expr& e = o.index[d];
    if (array.shape[d] == Dim(1)) continue;
    if (const int axis = axis_of_index(e, nest); axis >= 0) add_axis(out, axis, nest);
    else if (mentions(e, ExprOp::axis)) break;
  }
  return out;
}

/// The size with 128, or the nearest number in its range, for each symbol.
Dim usual(Dim size) {
  constexpr int64_t kUsualSize = 128;
  return substitute(size, [&](const DimNode& s) { return Dim(std::clamp(kUsualSize, s.lower, s.upper)); });
}

}  // namespace

std::vector<GroupPlace> places_of(const Group& g) {
  std::vector<GroupPlace> out;
  for (const Nest& n : g.nests) {
    for (const NestAccess& a : n.accesses) out.push_back({&n, a.array, a.index, false, !a.within});
    for (const NestOutput& o : n.outputs)
      if (!g.epilogue) out.push_back({&n, o.array, o.index, true, !o.within});
  }
  if (!g.epilogue) return out;
  // Axes of the map are the dimensions of the sum.
  const std::vector<Expr>& sum = g.nests[0].outputs[0].index;
  const auto moved = [&](std::vector<Expr> index) {
    for (Expr& e : index) e = substitute(e, [&](const ExprNode& n) { return n.op == ExprOp::axis ? sum[n.index] : Expr(); });
    return index;
  };
  const Nest& map = g.epilogue->map;
  for (int k = 0; k < static_cast<int>(map.accesses.size()); ++k) {
    const NestAccess& a = map.accesses[k];
    if (k != g.epilogue->accumulator) out.push_back({&g.nests[0], a.array, moved(a.index), false, !a.within});
  }
  for (const NestOutput& o : map.outputs) out.push_back({&g.nests[0], o.array, moved(o.index), true, !o.within});
  return out;
}

/// Whether the group writes the memory of a state of fixed shape, which other parts of a region may still read.
static bool changes_old_value(const Group& g, const Plan& plan) {
  const auto changes = [&](const Nest& n) {
    return std::ranges::any_of(n.outputs, [&](const NestOutput& o) { return state_in(o.array, plan) && !plan.arrays[o.array].growing; });
  };
  return std::ranges::any_of(g.nests, changes) || (g.epilogue && changes(g.epilogue->map));
}

bool can_run_by_parts(const Group& g, const Plan& plan) {
  if (changes_old_value(g, plan)) return false;
  if (g.epilogue && (g.epilogue->columns > 1 || g.nests[0].outputs[0].index.empty())) return false;
  if (g.kind() == GroupKind::contract) return g.contraction() != nullptr;
  return g.kind() == GroupKind::nests && std::ranges::none_of(g.nests, scatters);
}

int axis_of_index(const Expr& index, const Nest& nest) {
  const auto at = affine_of(index, static_cast<int>(nest.axes.size()));
  if (!at || !(at->offset == Dim(0))) return -1;
  int found = -1;
  for (int x = 0; x < static_cast<int>(nest.axes.size()); ++x) {
    if (nest.axes[x].extent == Dim(1) || at->coefficients[x] == Dim(0)) continue;
    if (found >= 0 || !(at->coefficients[x] == Dim(1))) return -1;
    found = x;
  }
  return found >= 0 && nest.axes[found].kind == Axis::Kind::parallel ? found : -1;
}

bool is_single_loop(const Group& g, const Plan& plan) {
  return g.kind() == GroupKind::nests && g.nests.size() == 1 && !window_sum_of(g.nests[0], plan);
}

std::vector<int> task_axes(const Group& g, const Plan& plan) {
  const Nest& nest = g.nests[0];
  std::vector<int> out;
  if (g.kind() == GroupKind::contract) {
    for (const JointAxis& rows : g.contraction()->rows) out.insert(out.end(), rows.axes.begin(), rows.axes.end());
  } else if (g.nests.size() > 1) {
    for (int x = 0; x < g.outer(); ++x) add_axis(out, x, nest);
  } else if (const auto window = window_sum_of(nest, plan)) {
    for (int x = 0; x < static_cast<int>(nest.axes.size()); ++x)
      if (x != window->channels && x != window->columns.output) add_axis(out, x, nest);
  } else {
    return axes_in_memory(nest, plan);
  }
  return out;
}

void drop_small_task_axes(std::vector<int>& axes, const Group& g, const Plan& plan) {
  if (!is_single_loop(g, plan)) return;
  const Nest& nest = g.nests[0];
  const BodyCost cost = cost_of(nest);
  Dim work = cost.arithmetic + plan.limits.transcendental_work * cost.transcendental +
             static_cast<int64_t>(nest.accesses.size() + nest.outputs.size());
  for (int x = 0; x < static_cast<int>(nest.axes.size()); ++x)
    if (std::ranges::find(axes, x) == axes.end()) work = work * usual(nest.axes[x].extent);
  while (!axes.empty() && work.less(Dim(plan.limits.min_task_work)).value_or(false)) {
    work = work * usual(nest.axes[axes.back()].extent);
    axes.pop_back();
  }
}

}  // namespace tenon::codegen
