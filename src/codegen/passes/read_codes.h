// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Where keys or values of attention are codes of 8 bits times a scale that all elements of a row share (a cache of int8 or fp8), lets the
/// kernel load the codes: scales of keys multiply scores, those of values multiply weights. The products are not stored. In plans that sum
/// in one order, whose kernels widen what they load. Not before `inline_maps`, after which the casts and the products are one map.
/// Cost: linear in the accesses.
void read_codes(Plan& plan);

}  // namespace tenon::codegen
