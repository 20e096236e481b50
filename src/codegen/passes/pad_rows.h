// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Stores arrays whose rows are a multiple of 4 KiB long, and which a contraction reads by rows, with a cache line after each row: all
/// rows of a tile would else fall into one set of the first-level cache (14 rows at 12 KiB: 172 instead of 258 GF/s on Zen 5, and on Zen 4
/// 144 to 170 of 229). Only for arrays without fixed strides; loops stay as they are. Needs: final accesses.  Not before
/// `choose_layouts`.  Cost: linear in the accesses.
void pad_rows(Plan& plan);

}  // namespace tenon::codegen
