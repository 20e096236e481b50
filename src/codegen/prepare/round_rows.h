// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/cost/contract_tiling.h"
#include "codegen/prepare/preparation.h"

namespace tenon::codegen {

/// The rows operand of a product with panels of blocks, rounded to Contraction::activations (not f32): adds the arrays, and the group of
/// loops that fills them, or returns those of an earlier product of the same input. Codes of i8 are round(127 x / m), where m is the
/// largest magnitude of `run` neighbours, and their scale is m / 127; neighbours below 1e-30 count as zeros. A row with NaN or infinity
/// gives NaN.
RoundedRows round_rows(const Group& product, const Tiling& tiling, const BlockFormat& format, Preparation& to);

}  // namespace tenon::codegen
