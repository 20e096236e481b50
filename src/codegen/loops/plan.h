// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>

#include "codegen/loops/nest.h"

namespace tenon::codegen {

/// A step of planning over the whole plan.
struct PlanPass {
  std::string_view name;
  std::string_view docs;
  void (*run)(Plan& plan);
  bool fuses = true;  ///< left out where nothing is fused (PlanOptions::fuse)
};

/// The passes in the order in which they run, after `collect` has made one group a node.
std::span<const PlanPass> plan_passes();
/// Runs them. Errors: with PlanOptions::verify, internal for what a pass has broken, with the pass as the place.
Result<void> run_passes(Plan& plan, const PlanOptions& options);

}  // namespace tenon::codegen
