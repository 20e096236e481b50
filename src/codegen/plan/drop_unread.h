// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Removes groups whose results nothing reads, unless they determine a size that is read.
void drop_unread(Plan& plan);

}  // namespace tenon::codegen
