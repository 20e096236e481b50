// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// A convolution of 3x3 in steps of one becomes three loops where that takes less time: tiles of the image as factors, their products with
/// the transformed kernels (a constant), and the products as sums, the epilogue among them. Rounding errors are those of
/// `minimal_filter`; tiles for which that is too much take the plain sum in loops of their own (`PlainTiles`). Needs: chosen layouts.
/// Promises: the same arrays are written. Not before `group_rows`, which would run the tiles of an image as one task. Cost: linear in the
/// groups.
void winograd(Plan& plan);

}  // namespace tenon::codegen
