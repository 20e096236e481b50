// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "codegen/cost/tactic.h"
#include "codegen/plan/plan_options.h"

namespace tenon::codegen {

/// A final plan, and the tactic of each of its groups.
struct PreparedPlan {
  Plan plan;
  std::vector<Tactic> tactics;
};

/// Packs, pads, copies or transposes operands that kernels cannot read as they are. A constant becomes another constant; a computed operand
/// gets a group that fills it (LoopGroup::auxiliary), before the group that reads it. Needs: the plan after all passes, and a tactic for
/// each of its groups, which decides how wide panels are and which axis lies along the lanes.  Promises: lower_group runs each group as it
/// is; groups keep their order. Cost: linear in the groups; constants are lazy, no bytes are copied. Errors: with PlanOptions::verify,
/// internal for what it has broken.
Result<PreparedPlan> prepare_operands(Plan plan, std::vector<Tactic> tactics, const Target& target, const PlanOptions& options = {});

}  // namespace tenon::codegen
