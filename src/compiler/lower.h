// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/emit.h"
#include "codegen/loops/nest.h"
#include "program/build.h"

namespace tenon::compiler {

/// Plans and lowers a graph and the bodies of its branches and loops. Errors: not_supported, naming the node.
Result<program::Lowered> lower(const ir::Graph& graph, const codegen::PlanOptions& options, const codegen::Target& target,
                               const codegen::TacticBook& tactics = {});

}  // namespace tenon::compiler
