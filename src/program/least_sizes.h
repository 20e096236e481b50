// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "ir/assumptions.h"

namespace tenon::program {

/// The smallest size of that symbol with which every assumption "a >= b" about it alone can hold: how long an input must be for the
/// windows that slide over it. The symbol's own lower bound where nothing more is known. Cost: a binary search for each assumption.
int64_t least_size(const DimNode& symbol, std::span<const ir::Assumption> assumptions);

}  // namespace tenon::program
