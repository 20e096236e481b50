// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Evaluates in attention what would take a number a pair of query and key otherwise, as long as that costs no more than the products.
/// Not before `store_diagonals`: what it stores is cheaper to read than to compute.
void inline_masks(Plan& plan);

}  // namespace tenon::codegen
