// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/builder.h"

namespace tenon::ops {

/// Unpacks u8[..., bytes] to u8[..., 8 / bits * bytes]: each byte holds numbers of `bits` bits (2, 4 or 8), in the lowest bits first. `x`
/// has a known rank.
ir::ValueId unpacked(ir::Builder& build, ir::ValueId x, int64_t bits);

}  // namespace tenon::ops
