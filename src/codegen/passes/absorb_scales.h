// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Where a product alone reads rows that are multiplied by a factor of the depth, the same for many of them (the gate of each channel of an
/// image), its tiles multiply their panels by it, and the rows are neither stored nor read again.
/// Needs: final layouts, which say which operand has the rows.  Not before `shorten_products`: products of bf16 read rounded rows.  Not
/// after `group_rows`, which joins the multiplication to other loops.  Cost: linear in the accesses.
void absorb_scales(Plan& plan);

}  // namespace tenon::codegen
