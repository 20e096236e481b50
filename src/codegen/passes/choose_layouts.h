// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Stores images channels-last: arrays of rank 4 (and 3, 5) that a convolution or pooling touches, and the maps between them, when nothing
/// from outside sees their layout. Only strides change; every loop stays as it is.
/// Needs: final accesses.  Not before `inline_maps`.  Cost: linear in the accesses, a few rounds.
void choose_layouts(Plan& plan);

}  // namespace tenon::codegen
