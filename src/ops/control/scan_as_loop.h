// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// Defines a Scan as a Loop that reads its slices by Gather; results that stack along another axis, or backwards, are transposed or
/// reversed after it. Empty where a required rank is not known.
std::vector<ir::ValueId> scan_as_loop(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> inputs);

}  // namespace tenon::ops
