// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Makes groups that are sums of products contractions.
/// Needs: one nest a group.  Promises: only `kind` and `roles` change.  Not after `absorb_epilogues` (it looks at the kind).
void find_contractions(Plan& plan);

}  // namespace tenon::codegen
