// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Stores padding around images that padded convolutions read by rows: the group that computes an image writes the inside, another loop
/// fills the halo, and nothing is copied. Several readers share the widest halo. Only for arrays without fixed strides, and padding of one
/// constant and known width; prepare_operands copies the others. Needs: final accesses and layouts.  Not before `winograd`, whose tiles
/// check bounds themselves.  Cost: linear in the accesses.
void add_halos(Plan& plan);

}  // namespace tenon::codegen
