// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Makes a map that is the only reader of a contraction's result its epilogue. The joined group takes the position of the map.
/// Not before `find_contractions`; not after `inline_maps` (a bias would be evaluated in each loop of a norm instead).
void absorb_epilogues(Plan& plan);

}  // namespace tenon::codegen
