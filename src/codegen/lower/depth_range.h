// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "codegen/lower/kernel_emitter.h"

namespace tenon::codegen {

/// The outermost depth of a contraction where it slides windows over an image with zeros around it: of the step d of that depth and the
/// number r along an axis of rows, it reads at r * step + d * dilation + offset, and what is not in 0 .. size - 1 adds nothing.
struct DepthRange {
  size_t rows = 0;  ///< which of the roles' axes
  Dim step, offset, size;
  int64_t dilation = 1;
};

/// nullopt where all steps count, or more than one axis of rows determines which do.
std::optional<DepthRange> depth_range_of(const Contraction& roles, const Nest& nest, const Plan& plan);

/// Steps [from, to) of the outermost depth; kNone: all.
struct DepthSteps {
  Reg from = kNone, to = kNone;
};
/// Those that count for some of the rows first .. last; `to` may be below `from`: none does.
DepthSteps steps_of(const DepthRange& range, Dim depth, Reg first, Reg last, KernelEmitter& emit);
/// How many there are for `rows` rows together. A depth, or a step, that is dynamic counts in full.
Dim steps_that_count(const DepthRange& range, Dim depth, Dim rows);

}  // namespace tenon::codegen
