// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"
#include "codegen/plan/plan_options.h"

namespace tenon::codegen {

/// Every node as one group of its own, by its role, and every segment. Nothing is fused; what nothing reads is left out.
/// options: segments, and what a body inherits from the graph around it. Errors: not_supported for a node that kernels cannot run.
Result<Plan> collect(const ir::Graph& graph, const PlanOptions& options = {});

}  // namespace tenon::codegen
