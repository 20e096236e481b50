// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/cost/tactic.h"
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// The order in which a nest's axes run, and the one that lies along the lanes.
struct Schedule {
  int outer = 0;    ///< leading axes that the tasks run over
  int vector = -1;  ///< axis along the lanes; -1: scalar code
  int cut = -1;     ///< axis inside of which tasks run over blocks of `block` points too; -1: none
  int64_t block = 0;
  int transposed = -1;  ///< axis that some loads lie along, which are transposed in squares; next to the vector axis. -1: all walk that one
};

/// Errors: bad_usage where the tactic has lanes along an axis that cannot lie there, as no axis can of nests that share a kernel.
Result<void> check_lanes(const std::vector<Nest>& nests, const LoopTactic& tactic, const Plan& plan);
/// For a nest alone in its group, whose tactic holds: reorders its axes so that the outer ones come first, and picks the vector axis.
Schedule schedule_alone(Nest& nest, const LoopTactic& tactic, const Plan& plan, const Target& target);
/// The same with tasks that run over `axes` first, in that order, each by itself; nullopt where that would cost: the lanes lie along one of
/// them, or loads are transposed.
std::optional<Schedule> schedule_by(const std::vector<int>& axes, Nest& nest, const LoopTactic& tactic, const Plan& plan,
                                    const Target& target);
/// The one nest of a group as its kernel runs it.
struct ScheduledNest {
  Nest nest;
  Schedule schedule;
  bool by_units = false;  ///< tasks run over the axes of the group's region first
};
/// The tactic's lanes hold for the nest (check_lanes).
ScheduledNest scheduled_alone(const Group& group, const LoopTactic& tactic, const Plan& plan, const Target& target);
/// Lies along axis `turned`, and takes steps of another length along the vector axis.
bool is_transposed(const Affine& place, const Schedule& schedule);
/// For a nest whose first `outer` axes are given: the others are put in order, parallel ones before reduced ones.
Schedule schedule_row(Nest& nest, int outer, const Plan& plan);

}  // namespace tenon::codegen
