// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Stores constants that are strided along the vectorised axis with that axis innermost (the weights of a depthwise convolution).
/// scheduled: the nest with axes as its kernel has them. vector_axis: one of these axes.
void transpose_constants(Nest& nest, const Nest& scheduled, int vector_axis, Plan& plan);

}  // namespace tenon::codegen
