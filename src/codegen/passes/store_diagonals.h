// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Stores the result of a map as one element for each diagonal, where all elements of a diagonal are equal (a relative position bias, a
/// causal mask). A matrix of r rows and c columns then takes r + c elements in place of r * c. Needs: one nest a group, and the whole
/// computation of an element in one body, so not before `inline_maps`. Promises: readers read the same values. Not after `choose_layouts`:
/// the array loses a dimension.
void store_diagonals(Plan& plan);

}  // namespace tenon::codegen
