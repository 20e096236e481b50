// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Lets attention write its result transposed, where the only reader is a transposition, which is removed.
/// Not before `inline_maps`: a transposition that its readers inline needs no copy.
void place_results(Plan& plan);

}  // namespace tenon::codegen
