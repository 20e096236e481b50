// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// OpDef::fold of an op that returns the elements of operand 0 in their order (Reshape, Squeeze): the constant with the shape of result 0.
Folded fold_same_bytes(const NodeView& view, std::span<const ir::ConstantRef> in);

}  // namespace tenon::ops
