// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/constant.h"

namespace tenon::ir {

/// Of an f32 constant whose elements are all cast from f16, or all from bf16: its steps over the elements before the cast, in that type.
/// null: it is none. Casting the result gives the constant again, bit by bit. Cost: the size of the expression.
ConstantRef uncast(const Constant& constant);

}  // namespace tenon::ir
