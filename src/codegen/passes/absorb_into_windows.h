// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// A map that alone reads a window sum's result becomes the epilogue of its group.
/// Needs: final accesses, as after `group_rows`.  Not before it: what shares a kernel over rows has no epilogue.
void absorb_into_windows(Plan& plan);

}  // namespace tenon::codegen
