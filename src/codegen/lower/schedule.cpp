// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "codegen/loops/inline.h"
#include "codegen/loops/places.h"

namespace tenon::codegen {
namespace {

bool may_lie_along_lanes(const ops::Axis& axis) { return axis.kind != ops::Axis::Kind::scanned && axis.extent != Dim(1); }

/// How well axes lie along the lanes. A nest that reduces reads more often than it writes.
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

int best_lane_axis(const Nest& nest, int from, const Plan& plan) {
  const LaneScores scores(nest, plan);
  int best = -1, best_score = 0;
  for (int x = from; x < static_cast<int>(nest.axes.size()); ++x) {
    if (!may_lie_along_lanes(nest.axes[x])) continue;
    const int score = scores.of(x);
    if (best < 0 || score >= best_score) best = x, best_score = score;
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

/// Points of the axes [from, to); a size that only the run knows counts as many.
int64_t points(const Nest& nest, size_t from, size_t to) {
  constexpr int64_t kMany = 64;
  int64_t n = 1;
  for (size_t x = from; x < to && n < (int64_t{1} << 40); ++x) n *= nest.axes[x].extent.is_number() ? nest.axes[x].extent.value() : kMany;
  return n;
}

/// Two points that differ in this axis write different elements: it is an index of every output.
bool keeps_apart(const Nest& nest, int axis) {
  return std::ranges::all_of(nest.outputs, [&](const NestOutput& o) {
    return std::ranges::any_of(o.index, [&](const Expr& e) { return e.op() == ExprOp::axis && e->index == axis; });
  });
}

/// Axes that keep elements apart, or those in which points that differ may write the same element.
std::vector<int> axes_that(bool keep_apart, const Nest& nest) {
  std::vector<int> out;
  for (int x = 0; x < static_cast<int>(nest.axes.size()); ++x)
    if (keeps_apart(nest, x) == keep_apart) out.push_back(x);
  return out;
}

/// Lanes are written from the first to the last: an axis that is written in turn may lie along them where it is the innermost one.
bool scatters_along_lanes(const Nest& nest, int axis) {
  const std::vector<int> in_turn = axes_that(false, nest);
  return std::ranges::find(in_turn, axis) == in_turn.end() || axis == in_turn.back();
}

/// Tasks run over the axes that keep elements apart. The others follow in their order, so that the last write stays, as the standard's
/// reference has it.
Schedule schedule_scatter(Nest& nest, const Tactic& tactic, const Plan& plan) {
  std::vector<int> order = axes_that(true, nest);
  int vector = tactic.lanes >= 0 ? tactic.lanes : best_lane_axis(nest, 0, plan);
  if (vector >= 0 && !scatters_along_lanes(nest, vector)) vector = -1;
  Schedule s;
  s.outer = static_cast<int>(std::ranges::count_if(order, [&](int x) { return x != vector; }));
  const std::vector<int> in_turn = axes_that(false, nest);
  order.insert(order.end(), in_turn.begin(), in_turn.end());
  if (vector >= 0) {
    std::erase(order, vector);
    order.push_back(vector);
    s.vector = static_cast<int>(nest.axes.size()) - 1;
  }
  reorder_axes(nest, order);
  return s;
}

/// Axes that the tactic of a group may ask for: those of its one nest as schedule_alone finds them.
std::vector<int> possible_lanes(const std::vector<Nest>& nests, const Plan& plan) {
  if (nests.size() != 1) return {};
  Nest nest = nests[0];
  const bool scattered = scatters(nest);
  if (!scattered) collapse(nest, plan);
  std::vector<int> out;
  for (int x = 0; x < static_cast<int>(nest.axes.size()); ++x)
    if (may_lie_along_lanes(nest.axes[x]) && (!scattered || scatters_along_lanes(nest, x))) out.push_back(x);
  return out;
}

}  // namespace

Result<void> check_lanes(const std::vector<Nest>& nests, const Tactic& tactic, const Plan& plan) {
  if (tactic.lanes < 0) return {};
  const std::vector<int> possible = possible_lanes(nests, plan);
  if (std::ranges::find(possible, tactic.lanes) != possible.end()) return {};
  const bool shared = nests.size() != 1;
  return fail(Code::bad_usage, "", shared ? "loops that share a kernel choose their own lanes" : "this axis cannot lie along the lanes")
      .expected(possible.empty() ? "lanes=-1" : fmt::format("lanes=-1, or one of {}", fmt::join(possible, ", ")))
      .found(fmt::format("lanes={}", tactic.lanes))
      .advice("leave lanes out for this kernel; neighbouring axes that are walked as one count as one");
}

Schedule schedule_alone(Nest& nest, const Tactic& tactic, const Plan& plan) {
  if (scatters(nest)) return schedule_scatter(nest, tactic, plan);
  collapse(nest, plan);
  Schedule s;
  s.vector = order_inner(nest, 0, tactic.lanes >= 0 ? tactic.lanes : best_lane_axis(nest, 0, plan));
  const auto parallel = [&](const ops::Axis& a) { return a.kind == ops::Axis::Kind::parallel; };
  s.outer = static_cast<int>(std::count_if(nest.axes.begin(), nest.axes.end(), parallel));
  if (s.vector >= 0 && parallel(nest.axes[s.vector])) {
    --s.outer;
    s.blocked = nest.axes[s.vector].extent.number().value_or(INT64_MAX) > 2 * tactic.block;
  }
  // A task of a few points costs more to find than to run: take in the innermost outer axes, as long as enough tasks are left.
  while (!s.blocked && s.outer > 1 && points(nest, s.outer, nest.axes.size()) < tactic.least &&
         points(nest, 0, s.outer - 1) >= tactic.split)
    --s.outer;
  return s;
}

Schedule schedule_row(Nest& nest, int outer, const Plan& plan) {
  return {outer, order_inner(nest, outer, best_lane_axis(nest, outer, plan)), false};
}

}  // namespace tenon::codegen
