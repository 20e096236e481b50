// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "codegen/analysis/window_sum.h"
#include "codegen/lower/kernel.h"

namespace tenon::codegen {

/// The window sum of a group of loops; nullopt: the group is none, its epilogue cannot run on registers, or the tactic chooses the lanes.
std::optional<WindowSum> window_of(const Group& group, const LoopTactic& tactic, const Plan& plan);
/// Whether the weights are contiguous along the channels, as the kernel needs them.
bool are_weights_channels_last(const Nest& nest, const WindowSum& sum, const Plan& plan);
/// Lowers a window sum with its epilogue: sums of neighbouring columns stay in registers while their windows' rows
/// pass, so that an element of several windows is loaded once. The loop over kernel rows leaves out rows in the padding, masks leave out
/// columns in the padding, and no image is copied. nullopt: the group is no window sum, or its weights are not channels-last.
Result<std::optional<Kernel>> lower_windows(const Group& group, const LoopTactic& tactic, const Plan& plan, const Target& target);

}  // namespace tenon::codegen
