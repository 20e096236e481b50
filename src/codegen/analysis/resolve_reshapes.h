// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// The array behind reshapes, and the access rewritten to it: index where it falls apart along the shape, else flat. An access that may
/// leave its array keeps its index: it stays before the first reshape through which that would be lost.
void resolve_reshapes(NestAccess& access, const Nest& nest, const Plan& plan);

}  // namespace tenon::codegen
