// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Inlines into attention masks with an element for each pair of query and key, where that costs no more than the products.
/// Not before `store_diagonals`: what it stores is cheaper to read than to compute.
void inline_masks(Plan& plan);

}  // namespace tenon::codegen
