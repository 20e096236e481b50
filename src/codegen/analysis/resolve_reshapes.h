// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Lets an access of a reshaped array read the original array: by index where each dimension of the original has an index of its own, else
/// by element number. An access with a condition needs an index, and stops at the first reshape that has none.
void resolve_reshapes(NestAccess& access, const Nest& nest, const Plan& plan);

}  // namespace tenon::codegen
