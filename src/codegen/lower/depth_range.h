// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "codegen/lower/kernel_emitter.h"

namespace tenon::codegen {

/// Which steps of the outermost depth axis a row needs, for windows that slide over an image with a halo of zeros. At step d of that axis,
/// the row with index r on one axis of the rows reads the image at r * step + d * dilation + offset. Where this is not in [0, size), it
/// reads the halo, and the step adds nothing.
struct DepthRange {
  size_t rows = 0;         ///< index in Contraction::rows of that axis of the rows
  Dim step, offset, size;  ///< see above; size: of the image, without the halo
  int64_t dilation = 1;
};

/// nullopt where every row needs all steps, or several axes of the rows determine which steps it needs.
std::optional<DepthRange> depth_range_of(const Contraction& roles, const Nest& nest, const Plan& plan);

/// Steps [from, to) of the outermost depth; kNone: all.
struct DepthSteps {
  Reg from = kNone, to = kNone;
};
/// The steps that at least one of rows `first` to `last` needs. depth: extent of that axis. `to` may be below `from`: there is no such
/// step.
DepthSteps steps_of(const DepthRange& range, Dim depth, Reg first, Reg last, KernelEmitter& emit);
/// The sum over rows 0 to rows - 1 of the steps that each needs; rows * depth where `depth` or DepthRange::step is dynamic.
Dim steps_that_count(const DepthRange& range, Dim depth, Dim rows);

}  // namespace tenon::codegen
