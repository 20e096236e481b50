// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// One resized axis. Its scale is the exact fraction above / below: a constant scale, or output size / input size.
struct ResizedAxis {
  int axis = 0;
  Dim in = 0, out = 0;
  Dim above = 1, below = 1;
  bool known = true;  ///< false: neither sizes nor scales are known
};

/// The float as an exact fraction of integers: numerator, denominator.
std::pair<int64_t, int64_t> fraction_of(double scale);
/// All axes that may change size. scales, sizes: operand slots (-1: none). Errors: bad lengths or scales.
Result<std::vector<ResizedAxis>> resized_axes(const NodeView& view, int scales, int sizes);
/// Shape and dtype of result 0.
Result<void> infer_resized(NodeView& view, int scales, int sizes);
/// Nearest, linear and cubic as index maps with exact whole-number coordinates. Refuses crop, antialias and exclude_outside.
Result<LoopForm> form_of_resize(const NodeView& view);
/// OpDef::definition for cases that the loop form refuses, with known sizes: each axis is multiplied by a constant matrix. {} where a size
/// is not known, with a crop that has an extrapolation value, and with keep_aspect_ratio_policy.
std::vector<ir::ValueId> define_resize(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> inputs);
/// All modes, one axis after the other, in fp64.
Result<void> reference_of_resize(Call& call);

}  // namespace tenon::ops
