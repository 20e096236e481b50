// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Arrays whose strides somebody relies on: seen from outside, read by element number, shared by a reshape, or an operand of what is no
/// loop. Cost: linear in the accesses.
std::vector<bool> relied_on(const Plan& plan);

}  // namespace tenon::codegen
