// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Splits a minimum or maximum over all elements into that of each row, which threads share and which may join the group that computes the
/// rows, and that over the rows. Not before `choose_layouts` (rows are what lies side by side); not after `group_rows`.
void split_full_reductions(Plan& plan);

}  // namespace tenon::codegen
