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

/// Options of planning one graph.
struct PlanOptions {
  std::span<const ir::Segment> segments = {};  ///< nodes that other backends run
  bool fuse = true;                            ///< false: one kernel for each node
  bool channels_last = true;                   ///< images may be stored with channels innermost
  Precision precision = Precision::f32;
  Activations activations = Activations::f32;
  bool sums_in_order = false;                      ///< see Plan::sums_in_order
  std::vector<const DimNode*> outer_symbols = {};  ///< of a body: symbols whose values the outer graph passes
  std::optional<size_t> carried = {};              ///< of a loop's body: how many values one iteration passes to the next
  std::set<std::string, std::less<>> off = {};     ///< names of planning passes (plan_passes) that do not run
  bool verify = false;                             ///< checks all invariants of the plan after each pass
  std::optional<PlanLimits> limits = {};           ///< replace those of the target; for tests
  /// Called after `collect` and after each pass that changed something. May be null.
  std::function<void(std::string_view pass, const Plan& plan)> dump = {};
};

}  // namespace tenon::codegen
