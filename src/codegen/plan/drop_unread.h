// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Drops groups whose results nothing reads, but for those that tell a size which something needs.
void drop_unread(Plan& plan);

}  // namespace tenon::codegen
