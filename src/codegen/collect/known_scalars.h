// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Replaces loads of arrays with one element whose value is known at compile time (constants, sizes) by that value, in nests whose axes are
/// all parallel. Index arithmetic then folds, and comparisons of positions become visible to passes.
void substitute_known_scalars(Nest& nest, const ir::Graph& graph, const Plan& plan);

}  // namespace tenon::codegen
