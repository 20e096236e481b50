// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Evaluates views and cheap maps where they are read, and drops them where all readers agree.
/// Cost: linear in the accesses, for a bounded number of readers a value.
void inline_maps(Plan& plan);

}  // namespace tenon::codegen
