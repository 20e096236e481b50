// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "ops/core/op.h"

namespace tenon::ops {

/// Makes an error of the node: `return refuse(view, Code::shape_mismatch, "inner sizes differ").expected(...);`. The text starts with the
/// op's name; the operands' types and the attributes are what was found.
Error refuse(const NodeView& view, Code code, std::string what);

}  // namespace tenon::ops
