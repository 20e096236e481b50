// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Constants that the vector axis walks in larger steps than 1 are stored with that axis innermost (the weights of a depthwise
/// convolution). `scheduled`: the nest with its axes joined and ordered as its kernel has them; `vector_axis` is one of its axes.
void transpose_constants(Nest& nest, const Nest& scheduled, int vector_axis, Plan& plan);

}  // namespace tenon::codegen
