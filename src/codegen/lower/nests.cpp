// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/places.h"
#include "codegen/lower/nest_lowering.h"
#include "codegen/lower/windows.h"

namespace tenon::codegen {

namespace {

using ops::Axis;

Dim points_inside(const std::vector<Nest>& nests, int outer) {
  Dim points = 0;
  for (const Nest& n : nests) {
    Dim p = 1;
    for (size_t x = outer; x < n.axes.size(); ++x) p = p * n.axes[x].extent;
    points = points + p;
  }
  return points;
}

/// Points of a task: of the axes from `outer` on, with `block` points of axis `cut`.
Dim points_of_block(const Nest& nest, int outer, int cut, int64_t block) {
  Dim points = block;
  for (int x = outer; x < static_cast<int>(nest.axes.size()); ++x)
    if (x != cut) points = points * nest.axes[static_cast<size_t>(x)].extent;
  return points;
}

/// Coordinates of task `t` over the axes, the last one running fastest.
std::vector<Reg> coordinates(KernelEmitter& emit, Reg t, const std::vector<Dim>& extents) {
  std::vector<Reg> out(extents.size(), kNone);
  for (size_t k = extents.size(); k-- > 0;) {
    if (k == 0) {
      out[0] = t;
      break;
    }
    const Reg extent = emit.dim(extents[k]);
    out[k] = emit.build().expr(ExprOp::rem, {t, extent});
    t = emit.build().expr(ExprOp::div, {t, extent});
  }
  return out;
}

/// The operations that take as long as one transcendental function; the least operations that a point counts as.
constexpr int kFunctionWork = 8, kUsualWork = 4;

/// The time of a point of the costliest nest, in units of a point with kUsualWork operations.
int64_t weight_of(const std::vector<Nest>& nests) {
  int work = kUsualWork;
  for (const Nest& n : nests) {
    const BodyCost cost = cost_of(n);
    work = std::max(work, cost.arithmetic + kFunctionWork * cost.transcendental);
  }
  return work / kUsualWork;
}

void count_work(Kernel& kernel, const std::vector<Nest>& nests) {
  for (const Nest& n : nests) {
    Dim points = n.condition < 0 ? 1 : 0;  // a nest with a condition usually does not run
    for (const Axis& a : n.axes) points = points * a.extent;
    const BodyCost cost = cost_of(n);
    kernel.flops = kernel.flops + points * Dim(std::max(1, cost.arithmetic + cost.transcendental));
    kernel.nodes.insert(kernel.nodes.end(), n.nodes.begin(), n.nodes.end());
  }
}

/// Whether all values of the expression have 8 bits. Null: true.
bool is_of_bytes(const Expr& e) { return !e || (bits_of(e.dtype()) == 8 && std::ranges::all_of(e.args(), is_of_bytes)); }

/// Whether all nests load, compute and store 8-bit elements alone, contiguous along the lanes: a register then has a lane for each of its
/// bytes.
bool walks_bytes(const std::vector<Nest>& nests, const std::vector<Schedule>& schedules, const Plan& plan) {
  for (size_t k = 0; k < nests.size(); ++k) {
    const Nest& n = nests[k];
    const int vector = schedules[k].vector, axes = static_cast<int>(n.axes.size());
    const auto lies_along = [&](const auto& place) {
      const auto at = affine_of(flat_of(place, plan), axes);
      return at && (at->coefficients[vector] == Dim(1) || at->coefficients[vector] == Dim(0));
    };
    const auto fits = [&](const auto& place) {
      return bits_of(place.dtype) == 8 && lies_along(place) && !mentions(place.within, ExprOp::axis, vector);
    };
    if (vector < 0 || n.axes[vector].kind != ops::Axis::Kind::parallel || !std::ranges::all_of(n.accesses, fits) ||
        !std::ranges::all_of(n.outputs, fits))
      return false;
    if (!std::ranges::all_of(n.outputs, [](const NestOutput& o) { return is_of_bytes(o.value); })) return false;
  }
  return true;
}

}  // namespace

Result<Kernel> lower_nests(const Group& group, const LoopTactic& tactic, const Plan& plan, const Target& target) {
  Kernel kernel;
  std::vector<Nest> nests = group.nests;
  TRY(check_lanes(nests, tactic, plan));
  count_work(kernel, nests);
  KernelEmitter emit(kernel, plan, target, nests.size() == 1 ? "map" : "row");
  std::vector<Schedule> schedules;
  if (nests.size() == 1) {
    ScheduledNest scheduled = schedule_group_nest(group, tactic, plan, target);
    if (scheduled.by_units) kernel.units = group.region->units;
    nests[0] = std::move(scheduled.nest);
    schedules.push_back(scheduled.schedule);
    if (points_inside(nests, 0) == Dim(0)) kernel.tasks = 0;
  } else {
    for (Nest& n : nests) schedules.push_back(schedule_shared_nest(n, group.outer(), plan));
    if (group.region) kernel.units = group.region->units;
  }
  if (walks_bytes(nests, schedules, plan)) emit.set_lanes(target.lanes(DType::u8));
  for (size_t k = 0; k < nests.size(); ++k) {
    if (nests[k].condition >= 0) continue;
    const int sums = partial_sums_of_reduction(nests[k], schedules[k].vector, emit.lanes());
    kernel.work.loops.push_back(loop_work(nests[k], schedules[k].vector, schedules[k].transposed, sums, tactic.unroll, plan));
  }
  const int outer = schedules[0].outer, cut = schedules[0].cut, transposed = schedules[0].transposed;
  const int64_t block = schedules[0].block;
  std::vector<Dim> extents;
  for (int x = 0; x < outer; ++x) extents.push_back(nests[0].axes[x].extent);
  const Dim length = cut >= 0 ? nests[0].axes[cut].extent : Dim(0);
  if (cut >= 0) extents.push_back(ceil_div(length, block));
  kernel.tasks = product(extents);
  Dim points_of_task = points_inside(nests, outer);
  if (cut >= 0 && transposed < 0) points_of_task = points_of_block(nests[0], outer, cut, block);
  else if (cut >= 0) points_of_task = Dim(block) * nests[0].axes[cut == transposed ? schedules[0].vector : transposed].extent;
  kernel.grain = max(Dim(1), floor_div(Dim(tactic.grain / weight_of(nests)), max(Dim(1), points_of_task)));

  Result<void> status;
  emit.build().loop(emit.build().task_begin(), emit.build().task_end(), emit.integer(1), [&](Reg t) {
    std::vector<Reg> axes = coordinates(emit, t, extents);
    Reg from = kNone, to = kNone;
    if (cut >= 0) {
      from = emit.build().mul(axes.back(), emit.integer(block));
      to = emit.build().min(emit.dim(length), emit.build().add(from, emit.integer(block)));
      axes.pop_back();
    }
    for (size_t k = 0; k < nests.size() && status; ++k) {
      std::vector<Reg> outer_axes(axes.begin(), axes.begin() + outer);
      NestLowering lowering(emit, nests[k], schedules[k], tactic);
      if (auto r = lowering.run(std::move(outer_axes), from, to); !r) status = std::move(r);
    }
  });
  if (!status) return std::unexpected(status.error());
  emit.finish();
  std::vector<int> task_axes(static_cast<size_t>(outer));
  std::iota(task_axes.begin(), task_axes.end(), 0);
  if (cut >= 0) task_axes.push_back(cut);
  AccessPatterns patterns(plan, tasks_over(task_axes, nests[0]));
  for (const Nest& n : nests)
    if (n.condition < 0) patterns.add(n);
  kernel.work.access_patterns = patterns.of(kernel.arguments);
  kernel.tactic = text_of(tactic);
  return kernel;
}

Result<Kernel> lower_loops(const Group& group, const LoopTactic& tactic, const Plan& plan, const Target& target) {
  if (auto window = TRY(lower_windows(group, tactic, plan, target))) return *std::move(window);
  TENON_ASSERT(!group.epilogue);
  return lower_nests(group, tactic, plan, target);
}

Result<std::vector<Kernel>> lower_group(const Group& group, const Tactic& tactic, const Plan& plan, const Target& target) {
  std::vector<Kernel> out;
  switch (group.kind()) {
    case GroupKind::nests: out.push_back(TRY(lower_loops(group, std::get<LoopTactic>(tactic), plan, target))); break;
    case GroupKind::contract: out.push_back(TRY(lower_contract(group, std::get<ContractTactic>(tactic), plan, target))); break;
    case GroupKind::attention: return lower_attention(group, std::get<AttentionTactic>(tactic), plan, target);
    case GroupKind::segment:
    case GroupKind::control:
    case GroupKind::check:
    case GroupKind::packed_rows:
    case GroupKind::sizes: break;
  }
  return out;
}

}  // namespace tenon::codegen
