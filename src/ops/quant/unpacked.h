// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/builder.h"

namespace tenon::ops {

/// u8[..., bytes] to u8[..., 8 / bits * bytes], the numbers of `bits` bits in each byte (2, 4 or 8); the lowest bits come first. `x` has a
/// known rank.
ir::ValueId unpacked(ir::Builder& build, ir::ValueId x, int64_t bits);

}  // namespace tenon::ops
