// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Where only a product reads rows that were multiplied by a factor of the depth which many rows share (the gate of each channel of an
/// image), lets its tiles multiply their panels by the factor. The multiplied rows are not stored. Needs: final layouts, which say which
/// operand has the rows.  Not before `shorten_products`: products of bf16 read rounded rows.  Not after `group_rows`, which joins the
/// multiplication to other loops.  Cost: linear in the accesses.
void absorb_scales(Plan& plan);

}  // namespace tenon::codegen
