// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Joins loops over the same outer axes (the passes of a softmax or a norm) into one kernel a row.
void group_rows(Plan& plan);

}  // namespace tenon::codegen
