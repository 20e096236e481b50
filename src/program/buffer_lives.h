// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/program.h"

namespace tenon::program {

/// Extends the life of a buffer, or of the one whose bytes it shares, to the step that is added next. kMissing: of none.
void touch(runtime::Program& program, uint32_t buffer);

/// Once all steps are there: while one part of a region reads a buffer, another may write what comes later in it, so that lives cover
/// whole regions. Cost: linear in the operands of the steps.
void finish_lives(runtime::Program& program);

}  // namespace tenon::program
