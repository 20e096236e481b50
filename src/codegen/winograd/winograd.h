// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Replaces a 3x3 convolution with stride 1 by three loops, where that is faster: one transforms tiles of the image, one multiplies them by
/// transformed kernels (a constant), and one transforms the products to results, with the epilogue. Rounding errors are those of
/// `minimal_filter`; tiles for which that is too much take the plain sum in loops of their own (`PlainTiles`). Needs: chosen layouts.
/// Promises: the same arrays are written. Not before `group_rows`, which would run the tiles of an image as one task. Cost: linear in the
/// groups.
void winograd(Plan& plan);

}  // namespace tenon::codegen
