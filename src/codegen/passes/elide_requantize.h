// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// What is rounded to an u8 and read as a float again in the same body stays a float: it is clamped to the same bounds, and a zero point
/// that is added first and subtracted again is dropped. Results are the same, NaN included, which becomes 0 as a byte.
/// Not before `inline_maps`: it puts both sides into one body.
void elide_requantize(Plan& plan);
/// Of one expression. Cost: linear in it.
Expr without_requantize(const Expr& e);

}  // namespace tenon::codegen
