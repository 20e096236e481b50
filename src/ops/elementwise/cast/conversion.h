// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// Result 0 has the shape of operand 0 and dtype `dtype`; shape data pass through where both dtypes can hold them.
Result<void> infer_cast(NodeView& view, DType dtype);
/// The loop form of Cast: element-wise.
Result<LoopForm> form_of_cast(const NodeView& view);
/// Floats truncate towards zero into integers, out of range goes to the nearest value that fits. saturate: see encode_float.
Result<void> reference_of_cast(Call& call, bool saturate);
/// The dtype that attribute `to` names. Errors: bad_attribute.
Result<DType> cast_target(const NodeView& view);

}  // namespace tenon::ops
