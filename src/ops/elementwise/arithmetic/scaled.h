// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// OpDef::fold of Mul and Div: a constant of f32 times (divided by) one number, or one number for each position on an axis. A product of
/// two f32 is exact in fp64, and so is the rounding of their quotient: the same bits as the ops give.
Folded fold_scaled(const NodeView& view, std::span<const ir::ConstantRef> in, bool divide);

}  // namespace tenon::ops
