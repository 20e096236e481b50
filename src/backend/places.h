// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/op.h"

namespace tenon::backend {

/// Whether all results of the node have places, which is memory that is laid out before the node runs: they are tensors of numbers whose
/// sizes follow from those of the operands.
bool has_places(const ir::NodeView& view);

}  // namespace tenon::backend
