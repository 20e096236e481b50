// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "ops/core/op.h"

namespace tenon::ops {

/// An error at the node: `refuse(view, Code::shape_mismatch, "inner sizes differ").expected(...)`. The text starts with the op's name.
Error refuse(const NodeView& view, Code code, std::string what);

}  // namespace tenon::ops
