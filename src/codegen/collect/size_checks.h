// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Adds to `checks` what sizes must be for every place that the nest reads or writes to lie inside its array, where that is
/// not known, not assumed by inference and not guarded by `within`. Places that are loaded have index checks instead; of what is no sum of
/// axes (reflection, remainders) the op's own form guarantees that it stays inside.
/// where: the node, for the error. Cost: one range a place.
void require_inside(const Nest& nest, const Plan& plan, const ir::Assumptions& assumed, const std::string& where, ir::Assumptions& checks);

}  // namespace tenon::codegen
