// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/loops/nest.h"

namespace tenon::codegen {

/// Every node as one group of its own, by its role, and every segment. Nothing is fused; what nobody reads is left out.
/// options: segments, and what a body is told of the graph around it. Errors: not_supported for a node that kernels cannot run.
Result<Plan> collect(const ir::Graph& graph, const PlanOptions& options = {});

/// The array behind reshapes, and the access rewritten to it: index where it falls apart along the shape, else flat. An access that may
/// leave its array keeps its index: it stays before the first reshape through which that would be lost.
void resolve_reshapes(NestAccess& access, const Nest& nest, const Plan& plan);

/// Drops groups whose results nobody reads, but for those that tell a size which somebody needs.
void drop_unread(Plan& plan);

}  // namespace tenon::codegen
