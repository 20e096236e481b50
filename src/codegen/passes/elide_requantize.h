// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Replaces a rounding to u8 and back to float in one body by a clamp to the same bounds, and drops a zero point that is added and
/// subtracted again. Results are the same, also for NaN, which becomes 0 as a byte. Not before `inline_maps`: it puts both sides into one
/// body.
void elide_requantize(Plan& plan);
/// The same for one expression. Cost: linear in it.
Expr without_requantize(const Expr& e);

}  // namespace tenon::codegen
