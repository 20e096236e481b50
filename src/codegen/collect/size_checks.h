// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Adds to `checks` the relations of sizes under which all accesses and outputs of the nest stay inside their arrays, unless they are
/// known, assumed by inference (`assumed`), or guarded by a `within`. Loaded indices have index checks instead; for an index that is no sum
/// of axes (reflection, remainders) the op's loop form guarantees its range. where: the node, for the error. Cost: one range for each
/// index.
void add_size_checks(const Nest& nest, const Plan& plan, const ir::Assumptions& assumed, const std::string& where, ir::Assumptions& checks);

}  // namespace tenon::codegen
