// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/split_full_reductions.h"

#include <algorithm>

#include "codegen/analysis/inline_nest.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/padding.h"
#include "codegen/analysis/places.h"

namespace tenon::codegen {

namespace {

/// The axis along which the first load is contiguous, where the nest reduces all axes to one minimum or maximum; -1 otherwise.
int row_of(const Group& g, const Plan& plan) {
  if (g.kind() != GroupKind::nests || g.nests.size() != 1 || g.epilogue) return -1;
  const Nest& nest = g.nests[0];
  const auto is_reduced = [](const ops::Axis& a) { return a.kind == ops::Axis::Kind::reduced; };
  if (nest.outputs.size() != 1 || nest.accesses.empty() || !std::ranges::all_of(nest.axes, is_reduced) || is_indirect(nest)) return -1;
  const NestOutput& o = nest.outputs[0];
  if ((o.combine != ops::Combine::min && o.combine != ops::Combine::max) || o.within) return -1;
  const auto place = affine_of(flat_of(nest.accesses[0], plan), static_cast<int>(nest.axes.size()));
  int row = -1, moving = 0;
  for (int x = 0; place && x < static_cast<int>(nest.axes.size()); ++x) {
    moving += !(nest.axes[x].extent == Dim(1));
    if (place->coefficients[x] == Dim(1) && !(nest.axes[x].extent == Dim(1))) row = x;
  }
  return moving > 1 ? row : -1;
}

/// The nest that reduces each row, along axis `row`. `whole` then reduces its results.
Nest rows_of(Nest& whole, int row, Plan& plan) {
  Nest rows = whole;
  DimList shape;
  std::vector<int> number(whole.axes.size());
  std::vector<Expr> place;
  rows.axes.clear();
  for (int x = 0; x < static_cast<int>(whole.axes.size()); ++x) {
    if (x == row) continue;
    number[x] = static_cast<int>(rows.axes.size());
    place.push_back(Expr::axis(number[x]));
    rows.axes.push_back({ops::Axis::Kind::parallel, whole.axes[x].extent});
    shape.push_back(whole.axes[x].extent);
  }
  number[row] = static_cast<int>(rows.axes.size());
  rewrite(rows, [&](const ExprNode& n) { return n.op == ExprOp::axis ? Expr::axis(number[n.index]) : Expr(); });
  rows.axes.push_back(whole.axes[row]);
  whole.axes.erase(whole.axes.begin() + row);
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

bool walks_alike(const Nest& a, const Nest& b) {
  const auto same_axis = [](const ops::Axis& x, const ops::Axis& y) { return x.kind == y.kind && x.extent == y.extent; };
  return a.accesses[0].array == b.accesses[0].array && std::ranges::equal(a.axes, b.axes, same_axis);
}

}  // namespace

void split_full_reductions(Plan& plan) {
  std::vector<Group> groups, waiting;  // neighbours' rows come first: then one kernel may make and reduce them
  const auto flush = [&] {
    std::ranges::move(waiting, std::back_inserter(groups));
    waiting.clear();
  };
  for (Group& g : plan.groups) {
    const int row = row_of(g, plan);
    if (row < 0) {
      flush();
      groups.push_back(std::move(g));
      continue;
    }
    Nest rows = rows_of(g.nests[0], row, plan);
    if (waiting.empty() || !walks_alike(groups.back().nests[0], rows)) groups.emplace_back().node = g.node;
    groups.back().nests.push_back(std::move(rows));
    if (groups.back().nests.size() > 1) groups.back().as<LoopGroup>().outer = static_cast<int>(groups.back().nests[0].axes.size()) - 1;
    waiting.push_back(std::move(g));
  }
  flush();
  plan.groups = std::move(groups);
}

}  // namespace tenon::codegen
