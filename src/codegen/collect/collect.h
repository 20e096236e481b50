// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"
#include "codegen/plan/plan_options.h"

namespace tenon::codegen {

/// Makes a plan with one group, or several, for each node by its role, and one for each segment. Nothing is fused; groups whose results
/// nothing reads are left out. options: segments, and what a body inherits from the graph around it. Errors: not_supported for a node that
/// kernels cannot run.
Result<Plan> collect(const ir::Graph& graph, const PlanOptions& options = {});

}  // namespace tenon::codegen
