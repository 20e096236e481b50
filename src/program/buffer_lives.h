// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/program.h"

namespace tenon::program {

/// Extends the life of a buffer, or of the one whose memory an alias shares, to the step that is added next. kMissing: does nothing.
void extend_life(runtime::Program& program, uint32_t buffer);

/// Extends the life of each buffer to whole regions: threads run the kernels of a region at the same time, so that one may still read a
/// buffer while another already writes for a later kernel. Call after all steps were added. Cost: linear in the operands of the steps.
void extend_lives_over_regions(runtime::Program& program);

}  // namespace tenon::program
