// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// Infers a normalisation of the sum of operands 0 and 1. Results: the normalised sum, its mean and deviation (f32, one a row), the sum.
/// Errors: those of broadcasting.
Result<void> infer_skip_norm(NodeView& view);

}  // namespace tenon::ops
