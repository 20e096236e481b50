// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Stores a map whose elements are equal along its diagonals as one element a diagonal (a relative position bias, a causal mask), so that
/// its memory grows with the sum of the two sizes and not with their product. Needs: one nest a group; the arithmetic of a value in one
/// body, so not before `inline_maps`.  Promises: readers see the same numbers. Not after `choose_layouts`: the arrays change their rank.
void store_diagonals(Plan& plan);

}  // namespace tenon::codegen
