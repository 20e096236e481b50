// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Drops groups whose results nobody reads, but for those that tell a size which somebody needs.
void drop_unread(Plan& plan);

}  // namespace tenon::codegen
