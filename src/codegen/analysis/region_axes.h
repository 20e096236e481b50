// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Where a group reads or writes an array; of a sum that an epilogue reads there is none.
struct GroupPlace {
  const Nest* nest = nullptr;  ///< whose axes the index is over
  ArrayId array = -1;
  std::vector<Expr> index;  ///< empty: it cannot be determined
  bool written = false;
  bool always = true;  ///< whatever the step; else the kernel may touch element 0 in place of one that is outside
};

std::vector<GroupPlace> places_of(const Group& g);

/// Whether all that the group does can be cut into parts of its rows.
bool runs_by_parts(const Group& g, const Plan& plan);
/// The axis whose steps the index counts; -1: it counts something else. An axis of one step adds nothing.
int axis_counted_by(const Expr& index, const Nest& nest);
/// One whose tasks can be numbered by any axes.
bool is_lone_loop(const Group& g, const Plan& plan);
/// Axes by which the tasks of a group are numbered or can be, outermost first.
std::vector<int> task_axes(const Group& g, const Plan& plan);
/// Without the innermost axes as long as a unit of a lone loop has little work: a task takes a while to find.
void leave_work(std::vector<int>& axes, const Group& g, const Plan& plan);

}  // namespace tenon::codegen
