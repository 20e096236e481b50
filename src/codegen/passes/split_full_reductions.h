// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// The least or largest element of all is that of the rows' own: rows are shared by the threads, and what makes them may find it on the
/// way. Not before `choose_layouts` (rows are what lies side by side); not after `group_rows`.
void split_full_reductions(Plan& plan);

}  // namespace tenon::codegen
