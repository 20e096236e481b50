// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// A read or write of an array by a group. Reads of the sum by an epilogue are left out.
struct GroupPlace {
  const Nest* nest = nullptr;  ///< whose axes the index is over
  ArrayId array = -1;
  std::vector<Expr> index;  ///< empty: it cannot be determined
  bool written = false;
  bool always = true;  ///< accessed at all steps; false: it has a condition, and where that is false, the kernel may access element 0
};

std::vector<GroupPlace> places_of(const Group& g);

/// Whether the group can run as one part of a region after the other (see Region).
bool can_run_by_parts(const Group& g, const Plan& plan);
/// The parallel axis that the index equals, apart from axes of one step; -1: none.
int axis_of_index(const Expr& index, const Nest& nest);
/// Whether the group is one loop nest, no window sum: any of its parallel axes can number its tasks.
bool is_single_loop(const Group& g, const Plan& plan);
/// Axes that number the tasks of a group, or can, outermost first.
std::vector<int> task_axes(const Group& g, const Plan& plan);
/// Removes innermost axes until a step of the others has at least PlanLimits::min_task_work, where the group is a single loop.
void drop_small_task_axes(std::vector<int>& axes, const Group& g, const Plan& plan);

}  // namespace tenon::codegen
