// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/inline_masks.h"

#include "codegen/passes/inliner.h"
#include "codegen/plan/drop_unread.h"

namespace tenon::codegen {

void inline_masks(Plan& plan) {
  inline_into_attention(plan);
  drop_unread(plan);
}

}  // namespace tenon::codegen
