// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// OpDef::fold of an op that gives the elements of operand 0 in their order: that constant with the sizes of result 0.
Folded fold_same_bytes(const NodeView& view, std::span<const ir::ConstantRef> in);

}  // namespace tenon::ops
