// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Evaluates views and cheap maps where they are read, where all readers of a map agree, and removes them.
void inline_into_readers(Plan& plan);
/// Evaluates inside attention the large masks that it reads, where that costs no more than its products.
void inline_into_attention(Plan& plan);

}  // namespace tenon::codegen
