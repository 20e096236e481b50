// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/op.h"

namespace tenon::backend {

/// All results of the node are tensors of numbers whose sizes follow from those of its operands: their memory is laid out before it runs.
bool has_places(const ir::NodeView& view);

}  // namespace tenon::backend
