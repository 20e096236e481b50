// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/plan/plan.h"
#include "codegen/precision.h"

namespace tenon::codegen {

struct PlanOptions {
  std::span<const ir::Segment> segments = {};  ///< what other backends run
  bool fuse = true;                            ///< off: one kernel a node
  bool channels_last = true;
  Precision precision = Precision::f32;
  bool sums_in_order = false;                      ///< see Plan::sums_in_order
  std::vector<const DimNode*> outer_symbols = {};  ///< of a body: symbols whose values the outer graph passes
  std::optional<size_t> carried = {};              ///< of a loop's body: how many values go from iteration to iteration
  std::set<std::string, std::less<>> off = {};     ///< names of planning passes that do not run, see plan_passes
  bool verify = false;                             ///< check every invariant of the plan after each pass
  std::optional<PlanLimits> limits = {};           ///< in place of the target's; for tests
  /// Called after `collect` and after each pass that changed something. May be null.
  std::function<void(std::string_view pass, const Plan& plan)> dump = {};
};

}  // namespace tenon::codegen
