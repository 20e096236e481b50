// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"
#include "codegen/target.h"

namespace tenon::codegen {

/// Rows that a loop looks up in a matrix constant in blocks are read from the panels of the default product of that matrix: the engine has
/// the matrix once, where it has such a product too (a tied embedding). Other accesses stay.
void read_blocks(Nest& nest, Plan& plan, const Target& target);

}  // namespace tenon::codegen
