// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// For each array, whether its strides must not change: it is visible outside of the plan, constant, accessed by element number, reshaped,
/// or an operand of attention or of a step without a kernel. Cost: linear in the accesses.
std::vector<bool> has_fixed_strides(const Plan& plan);

}  // namespace tenon::codegen
