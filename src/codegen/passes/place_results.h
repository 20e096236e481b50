// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Attention writes its result where a transposition that alone reads it would have copied it to.
/// Not before `inline_maps`: what its readers take over as they read needs no copy.
void place_results(Plan& plan);

}  // namespace tenon::codegen
