// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// A Scan as a Loop that counts its steps and takes its slices by Gather; results that stack along another axis, or backwards, are brought
/// there after it. Empty where a rank that this needs is not known.
std::vector<ir::ValueId> scan_as_loop(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> inputs);

}  // namespace tenon::ops
