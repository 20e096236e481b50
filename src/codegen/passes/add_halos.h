// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Images that a padded convolution reads by rows get the padding around them in memory: whoever makes them writes the inside as before,
/// one loop more fills the halo, and nothing is copied. Several readers share the widest halo. Only arrays whose strides nobody else
/// relies on, and where the padding is one constant and its width a number; the others are copied when they are lowered.
/// Needs: final accesses and layouts.  Not before `winograd`, whose tiles check bounds themselves.  Cost: linear in the accesses.
void add_halos(Plan& plan);

}  // namespace tenon::codegen
