// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/analysis/plan_verify.h"

namespace tenon::codegen {

/// Holds against the plan what it says of states that are written in place: the new value has the strides of the old one, kernels alone
/// write it, and no access reads an element of the old value that an earlier one has changed. Adds what does not hold to the report.
void verify_states(const Plan& plan, PlanReport& report);

}  // namespace tenon::codegen
