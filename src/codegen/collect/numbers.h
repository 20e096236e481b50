// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Puts values of one element that are known at compile time (constants, sizes) into the expressions of a map instead of loads. Then index
/// arithmetic folds, and comparisons of positions are seen for what they are. Nests that reduce keep their loads.
void write_in_numbers(Nest& nest, const ir::Graph& graph, const Plan& plan);

}  // namespace tenon::codegen
