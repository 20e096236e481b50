// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/analysis/attention.h"

namespace tenon::codegen {

/// Replaces a constant mask by a comparison of positions, where it shows all keys or those up to a fixed distance from the query (a causal
/// mask of fixed sizes), and hides the others by false, or by one number below -2^100 in place of 0. Cost: the elements of constants that
/// attention reads by query and key alone. value_scale: see AttentionGroup; follows the loads that close the gap of a removed one.
void simplify_constant_masks(Nest& attention, int& value_scale, const Plan& plan);

}  // namespace tenon::codegen
