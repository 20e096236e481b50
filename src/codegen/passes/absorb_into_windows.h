// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Makes a map that is the only reader of a window sum's result its epilogue.
/// Needs: final accesses.  Not before `group_rows`, which joins groups into kernels that have no epilogue.
void absorb_into_windows(Plan& plan);

}  // namespace tenon::codegen
