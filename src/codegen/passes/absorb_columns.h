// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Maps that read a product's result as columns side by side (the gates of a recurrent layer, the halves of a gated one) run on its tiles,
/// and nothing of the result itself is stored.
/// Needs: final accesses; weights that are constant, whose lanes are then interleaved column by column.  Not before `winograd`, which does
/// without columns.  Cost: linear in the accesses.
void absorb_columns(Plan& plan);

}  // namespace tenon::codegen
