// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Marks sums of products that the contract family runs.
/// Needs: one nest a group.  Promises: only `kind` and `roles` change.  Not after `absorb_epilogues` (it looks at the kind).
void find_contractions(Plan& plan);

}  // namespace tenon::codegen
