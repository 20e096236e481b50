// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/split_full_reductions.h"

#include <algorithm>

#include "codegen/analysis/inline_nest.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/padding.h"
#include "codegen/analysis/places.h"

namespace tenon::codegen {

namespace {

/// The axis of the rows: along which the first load is contiguous, where the nest reduces all axes to one minimum or maximum; -1 otherwise.
int row_axis_of(const Group& g, const Plan& plan) {
  if (g.kind() != GroupKind::nests || g.nests.size() != 1 || g.epilogue) return -1;
  const Nest& nest = g.nests[0];
  const auto is_reduced = [](const ops::Axis& a) { return a.kind == ops::Axis::Kind::reduced; };
  if (nest.outputs.size() != 1 || nest.accesses.empty() || !std::ranges::all_of(nest.axes, is_reduced) || is_indirect(nest)) return -1;
  const NestOutput& o = nest.outputs[0];
  if ((o.combine != ops::Combine::min && o.combine != ops::Combine::max) || o.within) return -1;
  const auto place = affine_of(flat_of(nest.accesses[0], plan), static_cast<int>(nest.axes.size()));
  int row_axis = -1, long_axes = 0;
  for (int x = 0; place && x < static_cast<int>(nest.axes.size()); ++x) {
    long_axes += !(nest.axes[x].extent == Dim(1));
    if (place->coefficients[x] == Dim(1) && !(nest.axes[x].extent == Dim(1))) row_axis = x;
  }
  return long_axes > 1 ? row_axis : -1;
}

/// Splits the reduction `whole`: the returned nest reduces each row along axis `row_axis`, and `whole` becomes the reduction of its
/// results.
Nest reduction_of_rows(Nest& whole, int row_axis, Plan& plan) {
  Nest rows = whole;
  DimList shape;
  std::vector<int> number(whole.axes.size());
  std::vector<Expr> place;
  rows.axes.clear();
  for (int x = 0; x < static_cast<int>(whole.axes.size()); ++x) {
    if (x == row_axis) continue;
    number[x] = static_cast<int>(rows.axes.size());
    place.push_back(Expr::axis(number[x]));
    rows.axes.push_back({ops::Axis::Kind::parallel, whole.axes[x].extent});
    shape.push_back(whole.axes[x].extent);
  }
  number[row_axis] = static_cast<int>(rows.axes.size());
  rewrite(rows, [&](const ExprNode& n) { return n.op == ExprOp::axis ? Expr::axis(number[n.index]) : Expr(); });
  rows.axes.push_back(whole.axes[row_axis]);
  whole.axes.erase(whole.axes.begin() + row_axis);
  const DType dtype = whole.outputs[0].dtype;
  rows.outputs[0].array = add_temporary(plan, dtype, shape);
  rows.outputs[0].index = place;
  rows.outputs[0].flat = Expr();
  NestAccess read;
  read.array = rows.outputs[0].array;
  read.dtype = dtype;
  read.index = std::move(place);
  whole.accesses = {std::move(read)};
  whole.outputs[0].value = Expr::input(0, dtype);
  return rows;
}

/// Whether both nests have the same axes and read the same array.
bool have_same_loops(const Nest& a, const Nest& b) {
  const auto same_axis = [](const ops::Axis& x, const ops::Axis& y) { return x.kind == y.kind && x.extent == y.extent; };
  return a.accesses[0].array == b.accesses[0].array && std::ranges::equal(a.axes, b.axes, same_axis);
}

}  // namespace

void split_full_reductions(Plan& plan) {
  std::vector<Group> groups, final_reductions;  // the second parts of neighbouring reductions, which follow the first parts of all
  const auto flush = [&] {
    std::ranges::move(final_reductions, std::back_inserter(groups));
    final_reductions.clear();
  };
  for (Group& g : plan.groups) {
    const int row_axis = row_axis_of(g, plan);
    if (row_axis < 0) {
      flush();
      groups.push_back(std::move(g));
      continue;
    }
    Nest rows = reduction_of_rows(g.nests[0], row_axis, plan);
    if (final_reductions.empty() || !have_same_loops(groups.back().nests[0], rows)) groups.emplace_back().node = g.node;
    groups.back().nests.push_back(std::move(rows));
    if (groups.back().nests.size() > 1) groups.back().as<LoopGroup>().outer = static_cast<int>(groups.back().nests[0].axes.size()) - 1;
    final_reductions.push_back(std::move(g));
  }
  flush();
  plan.groups = std::move(groups);
}

}  // namespace tenon::codegen
