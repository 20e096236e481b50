// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/cost/tactic.h"
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// How the axes of a nest, in their order, are split among tasks and vectorised.
struct Schedule {
  int outer = 0;        ///< number of leading axes whose points are tasks
  int vector = -1;      ///< vectorised axis; -1: scalar code
  int cut = -1;         ///< axis whose blocks of `block` points are tasks too; -1: none
  int64_t block = 0;    ///< points of a block of axis `cut`
  int transposed = -1;  ///< axis before `vector` along which some loads are contiguous, which are transposed square by square; -1: none
};

/// Errors: bad_usage where LoopTactic::lanes is an axis that cannot be vectorised. For nests that share a kernel, it cannot be chosen.
Result<void> check_lanes(const std::vector<Nest>& nests, const LoopTactic& tactic, const Plan& plan);
/// Schedules the only nest of a group by its tactic: reorders its axes, those of the tasks first, and chooses the vectorised axis.
Schedule schedule_nest(Nest& nest, const LoopTactic& tactic, const Plan& plan, const Target& target);
/// The same with tasks that are numbered by `axes` first, in that order. nullopt where one of them is the best to vectorise, or loads are
/// to be transposed.
std::optional<Schedule> schedule_by_axes(const std::vector<int>& axes, Nest& nest, const LoopTactic& tactic, const Plan& plan,
                                         const Target& target);
/// The only nest of a group, with its axes as its kernel runs them.
struct ScheduledNest {
  Nest nest;
  Schedule schedule;
  bool by_units = false;  ///< the axes of the group's region are the outermost axes of the tasks
};
/// Schedules the only nest of a group, by units of its region where it has one. The tactic must pass check_lanes.
ScheduledNest schedule_group_nest(const Group& group, const LoopTactic& tactic, const Plan& plan, const Target& target);
/// Whether a place is contiguous along axis `transposed` and strided along the vectorised axis.
bool is_transposed(const Affine& place, const Schedule& schedule);
/// Schedules one of several nests that share their first `outer` axes: orders the others, parallel ones before reduced ones.
Schedule schedule_shared_nest(Nest& nest, int outer, const Plan& plan);

}  // namespace tenon::codegen
