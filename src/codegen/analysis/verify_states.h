// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/analysis/plan_verify.h"

namespace tenon::codegen {

/// Checks states that are written in place: the new value has the strides of the old one, only kernels write it, and no access reads an
/// element of the old value that an earlier access has changed. Adds violations to the report.
void verify_states(const Plan& plan, PlanReport& report);

}  // namespace tenon::codegen
