// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Rounds the operands of large products of f32 to bf16 (to nearest even): constant panels when the engine is built, rows by a map
/// that stores them once for all products of the same array. Sums stay f32, and so does whatever else reads the rows.
/// Left as they are: products of few lanes or a short depth, whose rounding costs more than it saves; those without constant panels, as
/// in attention that was not found; depths of odd numbers alone, which no groups fit; depthwise windows, which are no products of rows.
/// Needs: contractions.  Before `absorb_epilogues`: the map then runs where its array is made.  Cost: linear in the groups.
void shorten_products(Plan& plan);

}  // namespace tenon::codegen
