// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// Replaces a node by one between casts to wider types (i8 to i32, bf16 to f32) where the version of its op in `opset` lacks the node's
/// element types but allows wider ones in which all results are the same (same_in_wider). The node is erased. Returns false, with nothing
/// changed, where there are no such types.
Result<bool> widen_types(ir::Graph& graph, ir::NodeId node, int64_t opset);

}  // namespace tenon::ops
