// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/schedule.h"

#include <algorithm>
#include <numeric>

#include "codegen/loops/inline.h"

namespace tenon::codegen {

namespace {

/// A hostile index operand must not reach outside the array.
Expr held_inside(const Expr& index, Dim extent) {
  if (!mentions(index, ExprOp::input, -1)) return index;
  const Expr i = index.dtype() == DType::i64 ? index : cast(index, DType::i64);
  return max(min(i, Expr::dim(extent) - Expr::integer(DType::i64, 1)), Expr::integer(DType::i64, 0));
}

Expr flat_in(const std::vector<Expr>& index, const Array& array) {
  std::vector<Expr> held;
  for (size_t k = 0; k < index.size(); ++k) held.push_back(held_inside(index[k], array.shape[k]));
  return flatten(held, array.strides);
}

/// Everything of the nest that is an affine place, as coefficients over its axes; nullopt where one is not.
std::optional<std::vector<Affine>> places_of(const Nest& nest, const Plan& plan) {
  std::vector<Affine> out;
  const int axes = static_cast<int>(nest.axes.size());
  for (const NestAccess& a : nest.accesses) {
    auto affine = affine_of(flat_of(a, plan), axes);
    if (!affine) return std::nullopt;
    out.push_back(std::move(*affine));
  }
  for (const NestOutput& o : nest.outputs) {
    auto affine = affine_of(flat_of(o, plan), axes);
    if (!affine) return std::nullopt;
    out.push_back(std::move(*affine));
  }
  return out;
}

bool axis_is_free(const Nest& nest, int axis) {
  for (const NestAccess& a : nest.accesses)
    if (mentions(a.within, ExprOp::axis, axis) || mentions(a.fill, ExprOp::axis, axis)) return false;
  for (const NestOutput& o : nest.outputs)
    if (mentions(o.value, ExprOp::axis, axis) || mentions(o.within, ExprOp::axis, axis)) return false;
  return true;
}

/// Joins axis k+1 into axis k: axis k counts both, its inner part is axis k's number times 1.
void join_axes(Nest& nest, int k, const std::vector<Affine>& places) {
  // With coefficient_k = coefficient_(k+1) * extent_(k+1) in every place, the pair is one axis with the inner coefficient.
  auto flat_from = [&](const Affine& p) {
    Expr sum = Expr::dim(p.offset);
    for (size_t x = 0; x < nest.axes.size(); ++x) {
      if (static_cast<int>(x) == k) continue;
      const int to = static_cast<int>(x) > k ? static_cast<int>(x) - 1 : static_cast<int>(x);
      if (!(p.coefficients[x] == Dim(0))) sum = sum + Expr::axis(to) * Expr::dim(p.coefficients[x]);
    }
    return simplify(sum);
  };
  for (size_t a = 0; a < nest.accesses.size(); ++a) {
    nest.accesses[a].flat = flat_from(places[a]);
    nest.accesses[a].index.clear();
  }
  for (size_t o = 0; o < nest.outputs.size(); ++o) {
    nest.outputs[o].flat = flat_from(places[nest.accesses.size() + o]);
    nest.outputs[o].index.clear();
  }
  nest.axes[k].extent = nest.axes[k].extent * nest.axes[k + 1].extent;
  nest.axes.erase(nest.axes.begin() + k + 1);
  auto renumber = [&](Expr& e) {
    if (e) e = substitute(e, [&](const ExprNode& n) { return n.op == ExprOp::axis && n.index > k ? Expr::axis(n.index - 1) : Expr(); });
  };
  for (NestAccess& a : nest.accesses) {
    renumber(a.within);
    renumber(a.fill);
  }
  for (NestOutput& o : nest.outputs) {
    renumber(o.value);
    renumber(o.within);
  }
}

bool joinable(const Nest& nest, int k, const std::vector<Affine>& places) {
  if (nest.axes[k].kind != ops::Axis::Kind::parallel || nest.axes[k + 1].kind != ops::Axis::Kind::parallel) return false;
  if (!axis_is_free(nest, k) || !axis_is_free(nest, k + 1)) return false;
  return std::all_of(places.begin(), places.end(),
                     [&](const Affine& p) { return p.coefficients[k] == p.coefficients[k + 1] * nest.axes[k + 1].extent; });
}

constexpr int kNotAlongLanes = -1000;

/// How well an axis lies along the lanes.
int lane_score(const Nest& nest, int axis, const Plan& plan) {
  const int axes = static_cast<int>(nest.axes.size());
  const ops::Axis& a = nest.axes[axis];
  if (a.kind == ops::Axis::Kind::scanned || a.extent == Dim(1)) return kNotAlongLanes;
  const bool parallel = a.kind == ops::Axis::Kind::parallel;
  int score = 0;
  for (const NestOutput& o : nest.outputs) {
    auto affine = affine_of(flat_of(o, plan), axes);
    if (!parallel) continue;
    score += affine && affine->coefficients[axis] == Dim(1) ? 6 : -6;
  }
  for (const NestAccess& x : nest.accesses) {
    auto affine = affine_of(flat_of(x, plan), axes);
    if (!affine) score -= mentions(flat_of(x, plan), ExprOp::axis, axis) ? 3 : -1;
    else if (affine->coefficients[axis] == Dim(1)) score += 3;
    else if (affine->coefficients[axis] == Dim(0)) score += 1;
    else score -= 2;
  }
  if (a.extent.is_number() && a.extent.value() < 4) score -= 6;
  return score;
}

int best_lane_axis(const Nest& nest, int from, const Plan& plan) {
  int best = -1, best_score = kNotAlongLanes + 1;
  for (int x = from; x < static_cast<int>(nest.axes.size()); ++x) {
    const int score = lane_score(nest, x, plan);
    if (score >= best_score) best = x, best_score = score;
  }
  return best;
}

/// The one that the tactic asks for, where it may lie along the lanes; else the best.
int lane_axis(const Nest& nest, const Tactic& tactic, const Plan& plan) {
  const bool there = tactic.lanes >= 0 && tactic.lanes < static_cast<int>(nest.axes.size());
  return there && lane_score(nest, tactic.lanes, plan) > kNotAlongLanes ? tactic.lanes : best_lane_axis(nest, 0, plan);
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

}  // namespace

Expr flat_of(const NestAccess& access, const Plan& plan) {
  if (access.flat) {
    const Array& a = plan.arrays[access.array];
    return mentions(access.flat, ExprOp::input, -1) ? held_inside(access.flat, product(a.shape)) : access.flat;
  }
  return flat_in(access.index, plan.arrays[access.array]);
}

Expr flat_of(const NestOutput& output, const Plan& plan) {
  return output.flat ? output.flat : flat_in(output.index, plan.arrays[output.array]);
}

void collapse(Nest& nest, const Plan& plan) {
  auto places = places_of(nest, plan);
  for (int k = 0; places && k + 1 < static_cast<int>(nest.axes.size());) {
    if (!joinable(nest, k, *places)) {
      ++k;
      continue;
    }
    join_axes(nest, k, *places);
    for (Affine& p : *places) p.coefficients.erase(p.coefficients.begin() + k);
  }
}

namespace {

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

}  // namespace

namespace {

/// Two points that differ in this axis write different elements: it is an index of every output.
bool keeps_apart(const Nest& nest, int axis) {
  return std::ranges::all_of(nest.outputs, [&](const NestOutput& o) {
    return std::ranges::any_of(o.index, [&](const Expr& e) { return e.op() == ExprOp::axis && e->index == axis; });
  });
}

/// Tasks run over the axes that keep elements apart. The others follow in their order, so that the last write stays, as the standard's
/// reference has it; lanes are written from the first to the last.
Schedule schedule_scatter(Nest& nest, const Plan& plan) {
  const int axes = static_cast<int>(nest.axes.size());
  std::vector<int> order, in_turn;
  for (int x = 0; x < axes; ++x) (keeps_apart(nest, x) ? order : in_turn).push_back(x);
  int vector = best_lane_axis(nest, 0, plan);
  if (vector >= 0 && !keeps_apart(nest, vector) && vector != in_turn.back()) vector = -1;
  Schedule s;
  s.outer = static_cast<int>(std::ranges::count_if(order, [&](int x) { return x != vector; }));
  order.insert(order.end(), in_turn.begin(), in_turn.end());
  if (vector >= 0) {
    std::erase(order, vector);
    order.push_back(vector);
    s.vector = axes - 1;
  }
  reorder_axes(nest, order);
  return s;
}

}  // namespace

Schedule schedule_alone(Nest& nest, const Tactic& tactic, const Plan& plan) {
  if (scatters(nest)) return schedule_scatter(nest, plan);
  collapse(nest, plan);
  Schedule s;
  s.vector = order_inner(nest, 0, lane_axis(nest, tactic, plan));
  const auto parallel = [&](const ops::Axis& a) { return a.kind == ops::Axis::Kind::parallel; };
  s.outer = static_cast<int>(std::count_if(nest.axes.begin(), nest.axes.end(), parallel));
  if (s.vector >= 0 && parallel(nest.axes[s.vector])) {
    --s.outer;
    const Dim extent = nest.axes[s.vector].extent;
    s.blocked = !(extent.is_number() && extent.value() <= 2 * tactic.block);
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
