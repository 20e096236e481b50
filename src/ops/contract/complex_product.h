// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/builder.h"

namespace tenon::ops {

/// Products of complex numbers, [..., 2] each and numpy broadcasting before that; `conjugate`: b is conjugated.
ir::ValueId complex_product(ir::Builder& build, ir::ValueId a, ir::ValueId b, bool conjugate);

}  // namespace tenon::ops
