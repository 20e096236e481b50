// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Inlines views and cheap maps into their readers, where that is possible for all of them, and removes them.
void inline_into_readers(Plan& plan);
/// Inlines large masks into the attention that reads them, where that costs no more than its products.
void inline_into_attention(Plan& plan);

}  // namespace tenon::codegen
