// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Replaces sums of products of 8-bit integers with zero points by sums of plain products u8 x i8, which run on register tiles, and a map
/// that subtracts the zero points:
///   sum((a - za) * (b - zb)) = sum(a * b') - za * sum(b'),  b' = b - zb.
/// `b` is a constant, and so are b' (an i8) and its sums. Where `a` is i8, it is stored as a + 128, and za is 128 more; outside of an image
/// stands za. The identity holds in wrapping arithmetic, for any number of products.
/// Sums whose weights are no constant, or where b - zb is no i8, stay as they are: plain loops.
/// Needs: one nest a group.  Not after `find_contractions` (it finds those that are made here).
/// Cost: one pass over the constants that zero points are taken off or that are summed.
void fold_zero_points(Plan& plan);

}  // namespace tenon::codegen
