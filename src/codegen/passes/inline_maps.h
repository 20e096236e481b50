// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Inlines views and cheap maps into their readers, and removes a map that all readers inlined.
/// Cost: linear in the accesses, for a bounded number of readers a value.
void inline_maps(Plan& plan);

}  // namespace tenon::codegen
