// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "codegen/lower/kernel.h"
#include "codegen/tactic.h"
#include "ir/graph.h"

namespace tenon::backends::cpu {

/// Expands fused ops that have neither loop form nor a kernel here into their plain ops.
Result<void> prepare(ir::Graph& graph);

/// The kernels of each group of the plan, in the order in which they run; none for groups without code.
/// New arrays (packed and padded operands) are added to the plan. Errors: not_supported, naming the node; bad_usage for a tactic.
Result<std::vector<std::vector<codegen::Kernel>>> lower(const ir::Graph& graph, codegen::Plan& plan, const codegen::Target& target,
                                                        const codegen::TacticBook& tactics = {});

}  // namespace tenon::backends::cpu
