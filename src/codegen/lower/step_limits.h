// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <vector>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Conditions on the steps of each axis of a nest: at a step that is walked, every one of them is at least 0. The last axis that moves a
/// condition is the one it limits.
using StepLimits = std::vector<std::vector<Affine>>;

/// Takes bounds out of the conditions of accesses (`within`) where the loop over a reduced axis can leave out the steps that lie outside:
/// what is read there would change no result. Only for axes that `is_loop` holds for. vector: the axis along the lanes, or -1; each lane
/// would have limits of its own.
StepLimits take_step_limits(Nest& nest, int vector, const std::function<bool(int axis)>& is_loop);

}  // namespace tenon::codegen
