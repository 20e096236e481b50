// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <vector>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Limits of the loops over a nest's axes, by axis: only steps at which each of these expressions is at least 0 run. A limit belongs to the
/// last axis that occurs in it.
using StepLimits = std::vector<std::vector<Affine>>;

/// Moves bounds from the conditions of accesses (`within`) to limits of loops over reduced axes, where steps outside change no result. Only
/// for axes for which `is_loop` is true. vector: the vectorised axis, which gets no limits, since each lane would have its own; -1: none.
StepLimits take_step_limits(Nest& nest, int vector, const std::function<bool(int axis)>& is_loop);

}  // namespace tenon::codegen
