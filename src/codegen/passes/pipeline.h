// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>

#include "codegen/plan/plan_options.h"
#include "codegen/target.h"

namespace tenon::codegen {

/// A step of planning over the whole plan. Pass, function, file and test have one name.
struct PlanPass {
  std::string_view name;
  std::string_view docs;
  void (*run)(Plan& plan);
  bool (*applies)(const PlanOptions& options);  ///< whether it runs with these options, unless PlanOptions::off names it
};

/// The passes in the order in which they run, after `collect`.
std::span<const PlanPass> plan_passes();
/// Runs the passes that the target lists and that apply. Errors: with PlanOptions::verify, internal where a pass violates an invariant,
/// with the name of the pass.
Result<void> run_passes(Plan& plan, const Target& target, const PlanOptions& options);

/// Plans a graph: collects the loops of all nodes outside of segments, and fuses them into groups. Errors: not_supported for a node that
/// kernels cannot run.
Result<Plan> plan(const ir::Graph& graph, const Target& target, const PlanOptions& options);

}  // namespace tenon::codegen
