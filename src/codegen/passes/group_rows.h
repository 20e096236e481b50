// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Joins loops over the same outer axes (those of a softmax or a norm) into one kernel whose tasks are rows.
void group_rows(Plan& plan);

}  // namespace tenon::codegen
