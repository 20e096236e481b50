// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Lets a growing state that a Concat appends rows to keep its memory: the new value has the strides of the capacity and is written in
/// place, new rows alone. Old rows stay as they are, so that groups may read the old value at any time.
/// Needs: accesses by index. Promises: PlanState::in_place only where each write lies behind the old rows.
/// Not after layouts are chosen: strides change. Cost: the accesses of the plan, for each growing state.
void append_in_place(Plan& plan);

}  // namespace tenon::codegen
