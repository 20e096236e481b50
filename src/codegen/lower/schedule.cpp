// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "codegen/analysis/inline_nest.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/places.h"

namespace tenon::codegen {
namespace {

/// Whether the axis can be vectorised.
bool may_lie_along_lanes(const Nest& nest, int axis) {
  const ops::Axis& a = nest.axes[static_cast<size_t>(axis)];
  return a.kind != ops::Axis::Kind::scanned && a.extent != Dim(1) && !is_axis_of_condition(nest, axis);
}

/// Scores axes of a nest as the vectorised one: contiguous places count for it, strided ones against it. Outputs weigh less where the nest
/// reduces, since it reads more often than it writes.
class LaneScores {
 public:
  LaneScores(const Nest& nest, const Plan& plan) : nest_(nest) {
    const auto reduces = [](const ops::Axis& a) { return a.kind != ops::Axis::Kind::parallel && !(a.extent == Dim(1)); };
    if (std::ranges::any_of(nest.axes, reduces)) of_output_ = 2;
    const int axes = static_cast<int>(nest.axes.size());
    for (const NestOutput& o : nest.outputs) outputs_.push_back(affine_of(flat_of(o, plan), axes));
    for (const NestAccess& a : nest.accesses) {
      flat_.push_back(flat_of(a, plan));
      accesses_.push_back(affine_of(flat_.back(), axes));
    }
  }

  int of(int axis) const {
    const ops::Axis& a = nest_.axes[axis];
    int score = 0;
    for (const auto& place : outputs_)
      if (a.kind == ops::Axis::Kind::parallel) score += place && place->coefficients[axis] == Dim(1) ? of_output_ : -of_output_;
    for (size_t k = 0; k < accesses_.size(); ++k) {
      const auto& place = accesses_[k];
      if (!place) score -= mentions(flat_[k], ExprOp::axis, axis) ? 3 : -1;
      else if (place->coefficients[axis] == Dim(1)) score += 3;
      else if (place->coefficients[axis] == Dim(0)) score += 1;
      else score -= 2;
    }
    if (a.extent.is_number() && a.extent.value() < 4) score -= 8;
    return score;
  }

 private:
  const Nest& nest_;
  int of_output_ = 6;
  std::vector<std::optional<Affine>> outputs_, accesses_;
  std::vector<Expr> flat_;
};

/// Whether the axis is reduced or scanned and shorter than a register.
bool is_short_sum(const ops::Axis& axis) {
  constexpr int64_t kLanes = 16;
  return axis.kind != ops::Axis::Kind::parallel && axis.extent.is_number() && axis.extent.value() < kLanes;
}

/// The axis with the best score; the innermost of equal ones, except that a short reduced axis does not replace a parallel one.
int best_lane_axis(const Nest& nest, int from, const Plan& plan) {
  const LaneScores scores(nest, plan);
  int best = -1, best_score = 0;
  for (int x = from; x < static_cast<int>(nest.axes.size()); ++x) {
    if (!may_lie_along_lanes(nest, x)) continue;
    const int score = scores.of(x);
    const bool wins =
        best < 0 || score > best_score || (score == best_score && (is_short_sum(nest.axes[best]) || !is_short_sum(nest.axes[x])));
    if (wins) best = x, best_score = score;
  }
  return best;
}

void reorder_axes(Nest& nest, const std::vector<int>& order) {
  std::vector<int> place(order.size());
  std::vector<ops::Axis> axes;
  for (size_t k = 0; k < order.size(); ++k) {
    place[order[k]] = static_cast<int>(k);
    axes.push_back(nest.axes[order[k]]);
  }
  rewrite(nest, [&](const ExprNode& n) { return n.op == ExprOp::axis ? Expr::axis(place[n.index]) : Expr(); });
  nest.axes = std::move(axes);
}

/// Axes from `outer` on: parallel ones, the vector axis among them last, then the reduced ones. Returns the new number of the vector axis.
int order_inner(Nest& nest, int outer, int vector) {
  const int axes = static_cast<int>(nest.axes.size());
  auto parallel = [&](int x) { return nest.axes[x].kind == ops::Axis::Kind::parallel; };
  std::vector<int> order(outer);
  std::iota(order.begin(), order.end(), 0);
  for (int x = outer; x < axes; ++x)
    if (x != vector && parallel(x)) order.push_back(x);
  if (vector >= 0 && parallel(vector)) order.push_back(vector);
  for (int x = outer; x < axes; ++x)
    if (x != vector && !parallel(x)) order.push_back(x);
  if (vector >= 0 && !parallel(vector)) order.push_back(vector);
  reorder_axes(nest, order);
  return vector < 0 ? -1 : static_cast<int>(std::find(order.begin(), order.end(), vector) - order.begin());
}

/// Points of the axes [from, to); a dynamic extent counts as 64.
int64_t points(const Nest& nest, size_t from, size_t to) {
  constexpr int64_t kDynamicExtent = 64;
  int64_t n = 1;
  for (size_t x = from; x < to && n < (int64_t{1} << 40); ++x)
    n *= nest.axes[x].extent.is_number() ? nest.axes[x].extent.value() : kDynamicExtent;
  return n;
}

/// Whether tasks over the axes [0, outer) are enough, also where the outermost is a dynamic batch of one. Where tasks over
/// one axis more would take longer to find than to run, they count as many.
bool leaves_tasks(const Nest& nest, int outer, const LoopTactic& tactic) {
  constexpr int64_t kWorthFinding = 64;
  const auto from = static_cast<size_t>(outer);
  const bool batch = outer > 0 && !nest.axes[0].extent.is_number();
  return points(nest, batch ? 1 : 0, from) >= tactic.split ||
         (batch && points(nest, 0, from) >= tactic.split && points(nest, from + 1, nest.axes.size()) < kWorthFinding);
}

/// Whether points that differ in this axis write different elements: the axis is an index of every output.
bool writes_disjoint(const Nest& nest, int axis) {
  return std::ranges::all_of(nest.outputs, [&](const NestOutput& o) {
    return std::ranges::any_of(o.index, [&](const Expr& e) { return e.op() == ExprOp::axis && e->index == axis; });
  });
}

/// The axes for which writes_disjoint() is `disjoint`. Points that differ only in other axes may write the same element.
std::vector<int> axes_that_write(bool disjoint, const Nest& nest) {
  std::vector<int> out;
  for (int x = 0; x < static_cast<int>(nest.axes.size()); ++x)
    if (writes_disjoint(nest, x) == disjoint) out.push_back(x);
  return out;
}

/// Whether the nest reads an array that it writes (Scatter with a reduction).
bool updates_in_place(const Nest& nest) {
  return std::ranges::any_of(nest.accesses, [&](const NestAccess& a) {
    return std::ranges::any_of(nest.outputs, [&](const NestOutput& o) { return a.array == o.array; });
  });
}

/// Whether a scatter may be vectorised along the axis. A vector store writes its lanes from the first to the last, so an axis along which
/// steps must be stored in order is legal too where it is the innermost of those and the nest reads none of the elements.
bool scatters_along_lanes(const Nest& nest, int axis) {
  const std::vector<int> sequential = axes_that_write(false, nest);
  return std::ranges::find(sequential, axis) == sequential.end() || (axis == sequential.back() && !updates_in_place(nest));
}

/// The axis whose steps are neighbours in the first result; -1: there is none.
int innermost_axis(const Nest& nest, const Plan& plan) {
  const NestOutput& o = nest.outputs[0];
  for (size_t d = 0; d < o.index.size(); ++d) {
    const bool neighbours = plan.arrays[o.array].strides[d] == Dim(1) && o.index[d].op() == ExprOp::axis;
    if (neighbours && may_lie_along_lanes(nest, o.index[d]->index)) return o.index[d]->index;
  }
  return -1;
}

/// Points of a task along the vectorised axis, where no other axis separates tasks: few large blocks, since each task reads all indices.
int64_t block_of_scatter(Dim lanes, int64_t row_parts) {
  constexpr int64_t kTwoLines = 32, kUnknown = 64;
  const int64_t extent = lanes.number().value_or(kUnknown);
  return std::max(kTwoLines, round_up(ceil_div(extent, row_parts), kTwoLines));
}

/// Tasks run over the axes that write disjoint elements. The others are loops in a task, in their order, so that the last write of an
/// element is the one that remains, as in ONNX's reference.
Schedule schedule_scatter(Nest& nest, const LoopTactic& tactic, const Plan& plan) {
  std::vector<int> order = axes_that_write(true, nest);
  int vector = tactic.lanes >= 0 ? tactic.lanes : updates_in_place(nest) ? innermost_axis(nest, plan) : best_lane_axis(nest, 0, plan);
  if (vector >= 0 && !scatters_along_lanes(nest, vector)) vector = -1;
  Schedule s;
  s.outer = static_cast<int>(std::ranges::count_if(order, [&](int x) { return x != vector; }));
  const std::vector<int> sequential = axes_that_write(false, nest);
  order.insert(order.end(), sequential.begin(), sequential.end());
  if (vector >= 0) {
    std::erase(order, vector);
    order.push_back(vector);
    s.vector = static_cast<int>(nest.axes.size()) - 1;
    const Dim lanes = nest.axes[static_cast<size_t>(vector)].extent;
    const bool is_disjoint = std::ranges::find(sequential, vector) == sequential.end();
    if (is_disjoint && s.outer == 0) s.cut = s.vector, s.block = block_of_scatter(lanes, plan.limits.row_parts);
  }
  reorder_axes(nest, order);
  return s;
}

/// The extent; a dynamic one counts as 64.
int64_t assumed_extent(Dim extent) {
  constexpr int64_t kDynamicExtent = 64;
  return extent.number().value_or(kDynamicExtent);
}

/// Whether the axis is long enough that squares of registers along it are mostly full.
bool fills_squares(const ops::Axis& axis) { return assumed_extent(axis.extent) >= 8; }

/// Whether the body is short enough to be emitted once for each row of a square.
bool is_short_body(const Nest& nest) {
  const BodyCost cost = cost_of(nest);
  return cost.transcendental == 0 && cost.arithmetic <= 4 && nest.accesses.size() <= 4;
}

/// Whether elements of that type can be transposed in squares. Without mask registers, masked loads of less than 32 bits become loops;
/// with 64 bits, a square has too many registers.
bool fits_squares(DType dtype, const Target& target) {
  return dtype != DType::boolean && (bits_of(dtype) == 32 || (bits_of(dtype) < 32 && target.has_mask_registers));
}

/// Whether some loads are contiguous along axis `transposed`, and all of them can be transposed in squares.
bool is_transposition(const Nest& nest, const Schedule& squares, const Plan& plan, const Target& target) {
  bool any = false;
  for (const NestAccess& a : nest.accesses) {
    const auto place = affine_of(flat_of(a, plan), static_cast<int>(nest.axes.size()));
    if (!place || !is_transposed(*place, squares)) continue;
    if (!fits_squares(a.dtype, target)) return false;
    any |= !plan.arrays[a.array].constant;  // constants are transposed when the engine is built
  }
  return any;
}

/// The axis along which some loads are contiguous, so that its squares with `vector` (the last axis) are transposed; -1: there is none, or
/// it does not pay.
int axis_to_transpose(const Nest& nest, int vector, const Plan& plan, const Target& target) {
  if (nest.condition >= 0 || !is_short_body(nest) || !fills_squares(nest.axes[vector])) return -1;
  for (const NestOutput& o : nest.outputs) {
    const auto place = affine_of(flat_of(o, plan), static_cast<int>(nest.axes.size()));
    if (!place || place->coefficients[vector] != Dim(1)) return -1;
  }
  for (int x = 0; x < vector; ++x)
    if (fills_squares(nest.axes[x]) && is_transposition(nest, {.vector = vector, .transposed = x}, plan, target)) return x;
  return -1;
}

/// Cuts the longer of the two axes of the squares into tasks with at least LoopTactic::least points each.
Schedule schedule_squares(Nest& nest, int transposed, const LoopTactic& tactic) {
  constexpr int64_t kLongest = 64;  // squares have at most so many rows
  const int axes = static_cast<int>(nest.axes.size());
  std::vector<int> order;
  for (int x = 0; x < axes - 1; ++x)
    if (x != transposed) order.push_back(x);
  order.push_back(transposed);
  order.push_back(axes - 1);
  reorder_axes(nest, order);
  Schedule s{.outer = axes - 2, .vector = axes - 1, .transposed = axes - 2};
  s.cut = assumed_extent(nest.axes[s.transposed].extent) >= assumed_extent(nest.axes[s.vector].extent) ? s.transposed : s.vector;
  const int64_t across = std::max<int64_t>(1, assumed_extent(nest.axes[s.cut == s.transposed ? s.vector : s.transposed].extent));
  s.block = kLongest * (1 + (tactic.least - 1) / (kLongest * across));
  return s;
}

/// Values that LoopTactic::lanes may have: axes of the only nest, numbered as schedule_nest numbers them.
std::vector<int> possible_lanes(const std::vector<Nest>& nests, const Plan& plan) {
  if (nests.size() != 1) return {};
  Nest nest = nests[0];
  const bool scattered = scatters(nest);
  if (!scattered) collapse(nest, plan);
  std::vector<int> out;
  for (int x = 0; x < static_cast<int>(nest.axes.size()); ++x)
    if (may_lie_along_lanes(nest, x) && (!scattered || scatters_along_lanes(nest, x))) out.push_back(x);
  return out;
}

}  // namespace

Result<void> check_lanes(const std::vector<Nest>& nests, const LoopTactic& tactic, const Plan& plan) {
  if (tactic.lanes < 0) return {};
  const std::vector<int> possible = possible_lanes(nests, plan);
  if (std::ranges::find(possible, tactic.lanes) != possible.end()) return {};
  const bool shared = nests.size() != 1;
  return fail(Code::bad_usage, "", shared ? "loops that share a kernel choose their own lanes" : "this axis cannot lie along the lanes")
      .expected(possible.empty() ? "lanes=-1" : fmt::format("lanes=-1, or one of {}", fmt::join(possible, ", ")))
      .found(fmt::format("lanes={}", tactic.lanes))
      .advice("leave lanes out for this kernel; neighbouring axes that are walked as one count as one");
}

bool is_transposed(const Affine& place, const Schedule& schedule) {
  const Dim step = place.coefficients[schedule.vector];
  return schedule.transposed >= 0 && step != Dim(0) && step != Dim(1) && place.coefficients[schedule.transposed] == Dim(1);
}

namespace {

/// leading: number of leading axes that keep their places; tasks run over them.
Schedule schedule_loop(Nest& nest, int leading, const LoopTactic& tactic, const Plan& plan, const Target& target) {
  collapse(nest, plan, leading);
  Schedule s;
  s.vector = order_inner(nest, 0, tactic.lanes >= 0 ? tactic.lanes : best_lane_axis(nest, 0, plan));
  const auto parallel = [&](const ops::Axis& a) { return a.kind == ops::Axis::Kind::parallel; };
  s.outer = static_cast<int>(std::count_if(nest.axes.begin(), nest.axes.end(), parallel));
  if (s.outer == static_cast<int>(nest.axes.size()) && s.vector >= 0)
    if (const int transposed = axis_to_transpose(nest, s.vector, plan, target); transposed >= 0)
      return schedule_squares(nest, transposed, tactic);
  if (s.vector >= 0 && parallel(nest.axes[s.vector])) {
    --s.outer;
    if (nest.axes[s.vector].extent.number().value_or(INT64_MAX) > 2 * tactic.block) s.cut = s.vector, s.block = tactic.block;
  }
  // A task of a few points costs more to find than to run: take in the innermost outer axes, as long as enough tasks are left.
  while (s.cut < 0 && s.outer > std::max(1, leading) && points(nest, s.outer, nest.axes.size()) < tactic.least &&
         leaves_tasks(nest, s.outer - 1, tactic))
    --s.outer;
  return s;
}

}  // namespace

Schedule schedule_nest(Nest& nest, const LoopTactic& tactic, const Plan& plan, const Target& target) {
  return scatters(nest) ? schedule_scatter(nest, tactic, plan) : schedule_loop(nest, 0, tactic, plan, target);
}

std::optional<Schedule> schedule_by_axes(const std::vector<int>& axes, Nest& nest, const LoopTactic& tactic, const Plan& plan,
                                         const Target& target) {
  const int leading = static_cast<int>(axes.size());
  if (scatters(nest) || tactic.lanes >= 0) return std::nullopt;
  Nest moved = nest;
  std::vector<int> order = axes;
  for (int x = 0; x < static_cast<int>(nest.axes.size()); ++x)
    if (std::ranges::find(axes, x) == axes.end()) order.push_back(x);
  reorder_axes(moved, order);
  if (best_lane_axis(moved, 0, plan) < leading) return std::nullopt;
  const Schedule s = schedule_loop(moved, leading, tactic, plan, target);
  if (s.transposed >= 0 || s.outer < leading) return std::nullopt;
  nest = std::move(moved);
  return s;
}

ScheduledNest schedule_group_nest(const Group& group, const LoopTactic& tactic, const Plan& plan, const Target& target) {
  ScheduledNest out{.nest = group.nests[0], .schedule = {}};
  const auto by_units = group.region ? schedule_by_axes(group.region->axes, out.nest, tactic, plan, target) : std::nullopt;
  out.by_units = by_units.has_value();
  out.schedule = by_units ? *by_units : schedule_nest(out.nest, tactic, plan, target);
  return out;
}

Schedule schedule_shared_nest(Nest& nest, int outer, const Plan& plan) {
  return {.outer = outer, .vector = order_inner(nest, outer, best_lane_axis(nest, outer, plan))};
}

}  // namespace tenon::codegen
