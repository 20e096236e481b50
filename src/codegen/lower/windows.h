// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "codegen/lower/kernel.h"

namespace tenon::codegen {

/// Lowers a window sum (loops/window_sum.h) with its epilogue: sums of neighbouring columns stay in registers while their windows' rows
/// pass, so that an element that several windows hold is loaded once. Rows outside are left out by the range of the loop, columns
/// by masks, or not at all where the tile is inside; nothing is copied. nullopt: it is none, or the tactic asks for lanes of its own.
Result<std::optional<Kernel>> lower_windows(const Group& group, const LoopTactic& tactic, Plan& plan, const Target& target);

}  // namespace tenon::codegen
