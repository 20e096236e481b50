// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Makes maps that read columns of a product's result (the gates of a recurrent layer, the halves of a gated one) its epilogue. The result
/// itself is not stored. Needs: final accesses; weights that are constant, whose lanes are then interleaved column by column.  Not before
/// `winograd`, which does without columns.  Cost: linear in the accesses.
void absorb_columns(Plan& plan);

}  // namespace tenon::codegen
